# Asks for all of them.
# control: root, may refuse: the kernel may be locked down
# inside: worker-exit: killed for the system call "iopl"$
return told(syscall(172, 0))
