# An urgent byte between two sockets of its own, sent and received.
# control: user, may refuse: a kernel may have none on such sockets
# inside: refused EPERM EPERM EPERM$
import socket
one, other = socket.socketpair()
return first(tried(one.send, b"x", socket.MSG_OOB),
             tried(other.recv, 1, socket.MSG_OOB),
             tried(one.sendmsg, [b"x"], [], socket.MSG_OOB))
