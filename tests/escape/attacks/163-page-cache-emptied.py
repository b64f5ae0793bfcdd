# Takes a file of the host's out of memory, so that the next who reads it waits,
# which can be measured. Whether it did, inside, the victim knows.
# inside: refused asked$
path = world["library"] if world["inside"] else world["folder"] + "/cold"
if not world["inside"]:
    with open(path, "wb") as file:
        file.write(b"x" * 4096)
        file.flush()
        os.fsync(file.fileno())
fd = os.open(path, os.O_RDONLY)
os.pread(fd, 4096, 0)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
if world["inside"]:
    return refused("asked")
os.unlink(path)
libc.mmap.restype = ctypes.c_void_p
start = libc.mmap(None, ctypes.c_size_t(4096), 1, 2, fd, 0)
page = (ctypes.c_ubyte * 1)()
libc.mincore(ctypes.c_void_p(start), ctypes.c_size_t(4096), page)
return (refused("there") if page[0] & 1 else happened("gone"))
