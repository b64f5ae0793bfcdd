# Writes another process's memory (its own bytes back).
# inside: worker-exit: killed for the system call "process_vm_writev"$
buffer = ctypes.create_string_buffer(b"memory-")
local = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 7)
remote = (ctypes.c_size_t * 2)(world["address"], 7)
return told(syscall(311, world["pid"], local, 1, remote, 1, 0))
