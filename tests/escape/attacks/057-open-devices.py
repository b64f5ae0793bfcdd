# Opens the devices by which a machine is taken over.
# control: root
# inside: refused (ENOENT ?)+$
return first(*(tried(os.open, "/dev/" + x, os.O_RDONLY) for x in (
    "mem", "kmsg", "vda", "sda", "loop0", "fuse", "kvm", "net/tun", "console",
    "tty", "ptmx", "port", "autofs", "shm", "pts")))
