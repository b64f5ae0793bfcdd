# Memory of the kernel's, in pipes made as large as they go.
# inside: refused EPERM$
import fcntl
a, b = os.pipe()
return tried(fcntl.fcntl, b, 1031, 1 << 20)
