# Loads code into the kernel. The control gets as far as its format.
# control: root, may refuse: the kernel may be built without modules
# inside: worker-exit: killed for the system call "init_module"$
answer = syscall(175, b"x" * 4096, 4096, b"")
return happened(answer) if answer == "ENOEXEC" else refused(answer)
