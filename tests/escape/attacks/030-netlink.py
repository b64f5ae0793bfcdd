# Asks the kernel for the machine's addresses and routes.
# inside: refused EPERM$
import socket
def go():
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.bind((0, 0))
return tried(go)
