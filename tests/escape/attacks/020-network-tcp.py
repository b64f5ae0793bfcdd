# Connects to a service of this machine.
# inside: refused EPERM$
import socket
return tried(socket.create_connection, ("127.0.0.1", world["tcp"]), 1)
