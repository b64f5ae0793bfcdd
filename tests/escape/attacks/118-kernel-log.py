# Reads the kernel's log, which tells addresses.
# control: root
# inside: refused EPERM$
buffer = ctypes.create_string_buffer(256)
return told(syscall(103, 3, buffer, 256))
