# Loads another kernel. The control gets as far as the argument that is wrong.
# control: root, may refuse: the kernel may be built without kexec
# inside: worker-exit: killed for the system call "kexec_load"$
answer = syscall(246, 0, 1000, 0, 0)
return refused(answer) if answer in ("EPERM", "ENOSYS") else happened(answer)
