# Connects by IPv6.
# control: user, may refuse: the machine may have no IPv6
# inside: refused EPERM$
import socket
def go():
    s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    s.connect(("::1", world["tcp6"]))
return tried(go)
