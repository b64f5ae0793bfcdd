# Fills the disk.
# inside: refused (ENOSPC|EFBIG|EDQUOT|ENOMEM) [1-6]?\d$|worker-exit: out of memory.*
folder = "/tmp" if world["inside"] else world["folder"]
block, total, end, fds = b"x" * (1 << 20), 0, "", []
for name in range(4):
    path = f"{folder}/big{name}"
    fd = os.open(path, os.O_CREAT | os.O_WRONLY)
    fds.append(fd)
    os.unlink(path)
    try:
        for i in range(40):
            os.write(fd, block)
            total += 1
    except OSError as error:
        end = name_of(error.errno)
for fd in fds:
    os.close(fd)
return (refused if end else happened)(f"{end} {total}")
