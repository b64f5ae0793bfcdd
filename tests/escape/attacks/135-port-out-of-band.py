# Urgent bytes, which some readers trip over.
# outside: value .*reader heard|refused EOPNOTSUPP
# inside: refused sent$
import socket
port = socket.socket(fileno=os.dup(3))
for i in range(100):
    try:
        port.send(b"x", socket.MSG_OOB | socket.MSG_DONTWAIT)
        port.send(b"\n", socket.MSG_DONTWAIT)
    except BlockingIOError:
        break
port.detach()
return (refused if world["inside"] else happened)("sent")
