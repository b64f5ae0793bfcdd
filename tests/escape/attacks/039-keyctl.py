# Joins a keyring.
# control: user, may refuse: the kernel may be built without keys
# inside: worker-exit: killed for the system call "keyctl"$
return told(syscall(250, 0, -3, 1))
