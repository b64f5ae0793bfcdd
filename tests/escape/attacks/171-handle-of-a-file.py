# A name for a file that goes around all mounts.
# control: user, may refuse: a file system may have none
# inside: worker-exit: killed for the system call "name_to_handle_at"$
handle = ctypes.create_string_buffer(136)
ctypes.c_uint.from_buffer(handle).value = 128
mount = ctypes.c_int()
return told(syscall(303, -100, world["library"].encode(), handle,
                    ctypes.byref(mount), 0))
