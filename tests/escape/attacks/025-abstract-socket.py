# Connects to a socket that lies in no file system.
# inside: refused EPERM$
import socket
return tried(lambda: socket.socket(socket.AF_UNIX).connect(
    f"\0capsid-escape-{world['pid']}"))
