# Asks the kernel about another process by its number: its group, priority,
# processors, limits, list of locks.
# inside: refused ESRCH( ESRCH| EPERM){5}$
pid = world["pid"]
head, size = ctypes.c_void_p(), ctypes.c_size_t()
limit = (ctypes.c_uint64 * 2)()
mask = ctypes.create_string_buffer(128)
return first(told(syscall(121, pid)), told(syscall(124, pid)),
             told(syscall(140, 0, pid)), told(syscall(204, pid, 128, mask)),
             told(syscall(302, pid, 7, None, limit)),
             told(syscall(274, pid, ctypes.byref(head), ctypes.byref(size))))
