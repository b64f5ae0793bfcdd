# Reads another process's memory.
# inside: worker-exit: killed for the system call "process_vm_readv"$
buffer = ctypes.create_string_buffer(64)
local = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 64)
remote = (ctypes.c_size_t * 2)(world["address"], 64)
answer = syscall(310, world["pid"], local, 1, remote, 1, 0)
return refused(answer) if isinstance(answer, str) else happened(buffer.value)
