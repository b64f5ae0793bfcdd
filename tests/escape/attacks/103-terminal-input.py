# Types into the terminal of whoever started it.
# control: root
# inside: refused (EPERM|ENOENT|ENXIO|ENOTTY|EACCES| )+$
import fcntl
if not world["inside"]:
    a, b = os.openpty()
    return tried(fcntl.ioctl, b, 0x5412, b"x")
return first(*(tried(fcntl.ioctl, x, 0x5412, b"x") for x in (0, 1, 2, 3)),
             tried(os.open, "/dev/tty", 2), tried(os.openpty))
