# Sends one packet.
# inside: refused EPERM$
import socket
return tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(
    b"x", ("127.0.0.1", world["udp"])))
