# Connects to a socket in the file system.
# inside: refused EPERM$
import socket
return tried(lambda: socket.socket(socket.AF_UNIX).connect(world["unix"]))
