# Goes up further than there is.
# inside: refused (ENOENT ?)+$
up = "../" * 30
root = os.open("/", os.O_PATH | os.O_DIRECTORY)
above = os.open("../../..", os.O_PATH | os.O_DIRECTORY, dir_fd=root)
os.chdir("/tmp")
return first(tried(read, up + world["secret"][1:]),
             tried(os.open, up + world["secret"][1:], 0, dir_fd=above),
             tried(read, "/tmp/.." + world["secret"]),
             tried(read, "/usr/lib/../.." + world["secret"]))
