# Asks for the machine's I/O ports.
# control: root, may refuse: the kernel may be locked down
# inside: worker-exit: killed for the system call "ioperm"$
return told(syscall(173, 0x80, 1, 0))
