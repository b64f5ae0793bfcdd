# Sends signals by the calls that carry a value.
# inside: refused EPERM$
info = ctypes.create_string_buffer(128)
ctypes.memmove(info, (ctypes.c_int * 3)(10, 0, -1), 12)
return told(syscall(129, world["pid"], 10, info))
