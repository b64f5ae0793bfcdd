# Watches files.
# inside: refused (EPERM ?)+$
fd = syscall(294, 0)
return first(told(fd), told(syscall(254, 3, b"/tmp", 2))) if isinstance(
    fd, str) else told(syscall(254, fd, world["folder"].encode(), 2))
