# Urgent bytes, which some readers trip over.
# outside: value .*reader heard|refused EOPNOTSUPP
# inside: refused EPERM$
import socket
port = socket.socket(fileno=os.dup(3))
for i in range(100):
    try:
        port.send(b"x", socket.MSG_OOB | socket.MSG_DONTWAIT)
        port.send(b"\n", socket.MSG_DONTWAIT)
    except BlockingIOError:
        break
    except OSError as error:
        return refused(name_of(error.errno))
port.detach()
return happened("sent")
