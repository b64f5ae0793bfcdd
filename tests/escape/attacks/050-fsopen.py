# Makes a file system without mounting it.
# control: namespace
# inside: worker-exit: killed for the system call "fsopen"$
return told(syscall(430, b"tmpfs", 0))
