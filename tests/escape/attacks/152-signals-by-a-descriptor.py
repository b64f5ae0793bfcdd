# Makes another process the owner of a socket: it gets a signal for each byte.
# inside: refused EPERM$
import fcntl, socket
one, other = socket.socketpair()
outcome = tried(fcntl.fcntl, one, fcntl.F_SETOWN,
                1 if world["inside"] else os.getpid())
return outcome
