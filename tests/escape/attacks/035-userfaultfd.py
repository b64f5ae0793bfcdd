# Stops the kernel in the middle of its own copying.
# control: root, may refuse: the kernel may be built without userfaultfd
# inside: worker-exit: killed for the system call "userfaultfd"$
return told(syscall(323, 0))
