# A pair of datagram sockets can be sent to any abstract name.
# inside: refused EPERM$
import socket
def go():
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return pair[0].sendto(b"x", f"\0capsid-escape-{world['pid']}-d")
return tried(go)
