# Opens a file by its number, past every path.
# control: root
# inside: worker-exit: killed for the system call "(name_to_handle_at|open_by_handle_at)"$
handle = ctypes.create_string_buffer(136)
ctypes.memmove(handle, (ctypes.c_uint * 1)(128), 4)
mount_id = ctypes.c_int()
answer = syscall(303, -100, world["secret"].encode(), handle,
                 ctypes.byref(mount_id), 0)
if isinstance(answer, str):
    return refused(answer)
directory = os.open(world["folder"], os.O_RDONLY)
fd = syscall(304, directory, handle, 0)
return refused(fd) if isinstance(fd, str) else happened(os.read(fd, 100))
