# Makes a file the machine's memory. The control gets as far as the file.
# control: root, may refuse: the kernel may be built without swap
# inside: worker-exit: killed for the system call "swapon"$
answer = syscall(167, world["folder"].encode(), 0)
return refused(answer) if answer in ("EPERM", "ENOSYS") else happened(answer)
