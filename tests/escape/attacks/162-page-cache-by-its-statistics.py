# Asks how much of a file of the host's is in memory.
# control: user, may refuse: old kernels have no such call, new ones answer owners
# inside: refused ENOSYS$
fd = os.open(world["library"], os.O_RDONLY)
extent = (ctypes.c_uint64 * 2)(0, 4096)
answer = (ctypes.c_uint64 * 5)()
return told(syscall(451, fd, extent, answer, 0))
