# Opens a queue by its name.
# control: user, may refuse: the kernel may be built without queues
# inside: refused EPERM$
fd = syscall(240, b"capsid-escape", 0o102, 0o600, 0)
if not isinstance(fd, str):
    syscall(241, b"capsid-escape")
return told(fd)
