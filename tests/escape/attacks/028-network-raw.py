# Raw packets.
# control: root
# inside: refused EPERM$
import socket
return tried(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1)
