# Executes a file that has no path.
# inside: refused EPERM ?$
def go():
    fd = os.memfd_create("x", 0)
    with open("/bin/true", "rb") as file:
        os.write(fd, file.read())
    child = os.fork()
    if child == 0:
        os.execve(fd, ["true"], {})
    return os.waitpid(child, 0)[1]
return tried(go)
