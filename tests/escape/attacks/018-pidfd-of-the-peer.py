# Asks the port for a descriptor of the process at the other end, and signals it.
# inside: worker-exit: killed for the system call "pidfd_send_signal"$|refused (ENOPROTOOPT|EINVAL|ENODATA|ESRCH)$
import socket
pair = socket.socketpair()
port = 3 if world["inside"] else pair[0].fileno()
fd, size = ctypes.c_int(-1), ctypes.c_int(4)
if libc.getsockopt(port, 1, 77, ctypes.byref(fd), ctypes.byref(size)) != 0:
    return refused(name_of(ctypes.get_errno()))
return told(syscall(424, fd.value, 0, 0, 0))
