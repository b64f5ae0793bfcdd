# Takes a mount away, to see what lies below it.
# control: namespace
# inside: worker-exit: killed for the system call "umount2"$
syscall(165, b"none", b"/tmp", b"tmpfs", 0, 0) if not world["inside"] else 0
return told(syscall(166, b"/tmp", 2))
