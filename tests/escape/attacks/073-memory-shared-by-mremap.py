# Shared memory without a name, which is held when it is no longer resident.
# inside: refused ENOMEM [12]?\d\d$|worker-exit: out of memory: heap limit 128 MiB$
libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
size = 32 << 20
total, end = 0, ""
for i in range(16):
    ctypes.set_errno(0)
    start = libc.mmap(None, ctypes.c_size_t(size), 3, 0x21, -1, 0)
    if start in (None, 2**64 - 1):
        end = name_of(ctypes.get_errno())
        break
    ctypes.memset(start, 1, size)
    # no longer resident, still held
    libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), 4)
    total += 32
return (refused if end else happened)(f"{end} {total}")
