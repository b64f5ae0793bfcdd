# Reaches the kernel's crypto code, which is seldom needed and often wrong.
# control: user, may refuse: the kernel may be built without AF_ALG
# inside: refused EPERM$
import socket
return tried(socket.socket, socket.AF_ALG, socket.SOCK_SEQPACKET)
