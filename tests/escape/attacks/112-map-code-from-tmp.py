# Writes machine code to a file and maps it.
# inside: refused (EPERM|EACCES)$
import mmap
folder = "/tmp" if world["inside"] else world["folder"]
fd = os.open(folder + "/code", os.O_CREAT | os.O_RDWR)
os.write(fd, b"\xc3" * 4096)
os.unlink(folder + "/code")
return tried(lambda: len(mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, prot=5)))
