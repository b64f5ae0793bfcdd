# Sends from the port, the one socket that it has, to an address of its choice.
# control: none: the kernel refuses outside too, a stream has one peer
# inside: refused (EISCONN|EOPNOTSUPP|EPERM)$
import socket
port = socket.socket(fileno=os.dup(3))
outcome = tried(port.sendto, b"\n", f"\0capsid-escape-{world['pid']}")
port.close()
return outcome
