# Memory that is a stack to the kernel, and so not counted as data.
# inside: refused EPERM 0$
libc.mmap.restype = ctypes.c_void_p
size, total, end = 32 << 20, 0, ""
for i in range(16):
    ctypes.set_errno(0)
    start = libc.mmap(None, ctypes.c_size_t(size), 3, 0x122, -1, 0)
    if start in (None, 2**64 - 1):
        end = name_of(ctypes.get_errno())
        break
    ctypes.memset(start, 1, size)
    total += 32
return (refused if end else happened)(f"{end} {total}")
