# Shared memory without a name by its other door, which takes no flag that a
# filter could see.
# inside: refused ENOENT 0$
# in container: refused EACCES 0$
libc.mmap.restype = ctypes.c_void_p
size, total, end = 32 << 20, 0, ""
for i in range(20):
    try:
        fd = os.open("/dev/zero", os.O_RDONLY)
    except OSError as error:
        end = name_of(error.errno)
        break
    ctypes.set_errno(0)
    start = libc.mmap(None, ctypes.c_size_t(size), 1, 1, fd, 0)
    os.close(fd)
    if start in (None, 2**64 - 1):
        end = name_of(ctypes.get_errno())
        break
    # a page that is only read is held, too
    for at in range(start, start + size, 4096):
        ctypes.c_char.from_address(at).value
    libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), 4)
    total += 32
return (refused if end else happened)(f"{end} {total}")
