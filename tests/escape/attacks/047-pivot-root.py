# Turns the root of the file system back.
# control: namespace
# inside: worker-exit: killed for the system call "pivot_root"$
if not world["inside"]:
    syscall(165, b"none", b"/", 0, 0x44000, 0)
    syscall(165, b"none", b"/tmp", b"tmpfs", 0, 0)
    os.mkdir("/tmp/old")
return told(syscall(155, b"/tmp", b"/tmp/old"))
