# A queue for asynchronous reads: memory, of which the machine allows so much to
# all together.
# inside: worker-exit: killed for the system call "io_setup"$
context = ctypes.c_ulong()
return told(syscall(206, 8, ctypes.byref(context)))
