# Sends a signal to the zygote's number by rt_tgsigqueueinfo and tgkill.
# inside: refused (EPERM ?)+$
info = ctypes.create_string_buffer(128)
ctypes.memmove(info, (ctypes.c_int * 3)(10, 0, -1), 12)
return first(told(syscall(297, world["pid"], world["pid"], 10, info)),
             told(syscall(234, world["pid"], world["pid"], 10)))
