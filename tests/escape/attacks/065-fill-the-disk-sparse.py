# Sets aside more than it may without writing.
# inside: refused (ENOSPC|EFBIG|EDQUOT|ENOMEM)$
folder = "/tmp" if world["inside"] else world["folder"]
fd = os.open(folder + "/big", os.O_CREAT | os.O_WRONLY)
outcome = tried(os.posix_fallocate, fd, 0, 300 << 20)
os.unlink(folder + "/big")
return outcome
