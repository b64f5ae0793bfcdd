# The new calls for mounts.
# control: namespace
# inside: worker-exit: killed for the system call "open_tree"$
return told(syscall(428, -100, b"/", 0x8001))
