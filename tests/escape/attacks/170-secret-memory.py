# Memory that is in no process's tables of memory but its own.
# control: user, may refuse: a kernel may have it off
# inside: worker-exit: killed for the system call "memfd_secret"$
return told(syscall(447, 0))
