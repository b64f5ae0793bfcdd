# Opens a port of its own for the world to come to.
# inside: refused EPERM$
import socket
return tried(socket.create_server, ("127.0.0.1", 0))
