# Changes a table of the processor's.
# control: user, may refuse: the kernel may be built without modify_ldt
# inside: worker-exit: killed for the system call "modify_ldt"$
return told(syscall(154, 0, ctypes.create_string_buffer(64), 64))
