# Has every process's end recorded in a file of its choice. The control gets as
# far as a file that is not there.
# control: root, may refuse: the kernel may be built without it
# inside: worker-exit: killed for the system call "acct"$
answer = syscall(163, b"/no/such/file")
return refused(answer) if answer in ("EPERM", "ENOSYS") else happened(answer)
