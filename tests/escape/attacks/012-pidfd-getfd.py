# Takes a descriptor out of another process.
# inside: refused EPERM$
fd = syscall(434, world["pid"], 0)
if isinstance(fd, str):
    return refused(fd)
return told(syscall(438, fd, 0, 0))
