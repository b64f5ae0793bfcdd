# Mounts a file system.
# control: namespace
# inside: worker-exit: killed for the system call "mount"$
return told(syscall(165, b"none", b"/tmp", b"tmpfs", 0, 0))
