# Enters the namespaces of the process at the other end of the port.
# control: root
# inside: refused EPERM$
import socket
pair = socket.socketpair()
port = 3 if world["inside"] else pair[0].fileno()
fd, size = ctypes.c_int(-1), ctypes.c_int(4)
libc.getsockopt(port, 1, 77, ctypes.byref(fd), ctypes.byref(size))
return told(syscall(308, fd.value, 0x04000000))
