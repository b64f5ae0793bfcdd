# Memory in a file without a name, which is not counted as its own.
# inside: refused EPERM$
def fill():
    fd = os.memfd_create("x")
    for i in range(300):
        os.write(fd, b"x" * (1 << 20))
    return fd
return tried(fill)
