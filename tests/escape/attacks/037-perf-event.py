# Watches the machine by its performance counters.
# control: root, may refuse: the kernel may be built without perf
# inside: worker-exit: killed for the system call "perf_event_open"$
attr = ctypes.create_string_buffer(128)
ctypes.memmove(attr, (ctypes.c_uint * 2)(1, 128), 8)
return told(syscall(298, attr, 0, -1, -1, 0))
