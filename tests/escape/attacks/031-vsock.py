# Talks to the machine's hypervisor.
# control: root, may refuse: the kernel may be built without vsock
# inside: refused EPERM$
import socket
return tried(socket.socket, socket.AF_VSOCK, socket.SOCK_STREAM)
