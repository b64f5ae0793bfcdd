# Takes a file of the host's out of memory, so that the next who reads it waits,
# which can be measured. Whether it did, inside, the victim knows.
# inside: refused asked$
path = world["library"] if world["inside"] else world["folder"] + "/cold"
if not world["inside"]:
    with open(path, "wb") as file:
        file.write(b"x" * 4096)
        os.fsync(file.fileno())
fd = os.open(path, os.O_RDONLY)
os.pread(fd, 4096, 0)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
if world["inside"]:
    return refused("asked")
os.unlink(path)
try:
    os.preadv(fd, [bytearray(16)], 0, os.RWF_NOWAIT)
except BlockingIOError:
    return happened("gone")
return refused("there")
