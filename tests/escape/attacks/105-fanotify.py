# Watches, and holds up, all file accesses of a mount.
# control: root, may refuse: the kernel may be built without fanotify
# inside: worker-exit: killed for the system call "fanotify_init"$
return told(syscall(300, 0, 0))
