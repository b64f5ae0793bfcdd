# Sees every packet of the machine.
# control: root
# inside: refused EPERM$
import socket
return tried(socket.socket, socket.AF_PACKET, socket.SOCK_RAW, 0x300)
