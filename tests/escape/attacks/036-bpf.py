# Loads a program into the kernel (here: makes a map).
# control: root, may refuse: the kernel may be built without bpf()
# inside: worker-exit: killed for the system call "bpf"$
return told(syscall(321, 0, (ctypes.c_uint * 16)(2, 4, 8, 1), 64))
