# Attaches to another process's shared memory, and makes its own.
# inside: refused (EPERM ?)+$
libc.shmat.restype = ctypes.c_void_p
def attach():
    segment = syscall(29, world["key"], 0, 0)
    if isinstance(segment, str):
        raise OSError(getattr(errno, segment), "")
    return ctypes.string_at(libc.shmat(segment, None, 0), 32)
own = syscall(29, 0, 4096, 0o1666)
if not isinstance(own, str):
    syscall(31, own, 0, 0)
return first(tried(attach), told(own))
