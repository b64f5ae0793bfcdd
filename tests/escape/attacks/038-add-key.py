# Leaves a key where the next run would find it.
# control: user, may refuse: the kernel may be built without keys
# inside: worker-exit: killed for the system call "add_key"$
return told(syscall(248, b"user", b"capsid-escape", b"x", 1, -2))
