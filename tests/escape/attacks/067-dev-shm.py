# Shared memory by the C library's name for it.
# inside: refused (ENOENT|EROFS|EACCES| )+$
from multiprocessing import shared_memory
def make():
    memory = shared_memory.SharedMemory(create=True, size=4096)
    memory.close()
    memory.unlink()
return first(tried(read, world["posix"]),
             tried(make))
