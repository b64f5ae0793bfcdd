# The same system calls by their numbers in another table.
# control: user, may refuse: the kernel may be built without x32
# inside: worker-exit: killed for a system call: of another machine, .*$
return told(syscall(0x40000000 | 39))
