# Has its pages merged with equal ones of others: whether that was done can be
# measured, and tells what others have in memory.
# control: user, may refuse: a kernel may have no such merging
# inside: refused EPERM$
libc.mmap.restype = ctypes.c_void_p
start = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, 0)
return told(syscall(28, start, 4096, 12))
