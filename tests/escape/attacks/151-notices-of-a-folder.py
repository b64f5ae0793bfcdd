# Asks to be told of what happens in a folder, by signals.
# control: user, may refuse: a kernel may have no dnotify
# inside: refused EPERM$
import fcntl
folder = os.path.dirname(world["library"])
fd = os.open(folder, os.O_RDONLY)
return tried(fcntl.fcntl, fd, 1026, 0x2)
