# Changes another process's limits.
# inside: refused (EPERM|ESRCH)$
old = (ctypes.c_ulonglong * 2)()
return told(syscall(302, world["pid"], 7, 0, old))
