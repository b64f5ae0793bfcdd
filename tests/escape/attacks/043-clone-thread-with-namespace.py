# A thread, which is allowed, with a namespace, which is not.
# control: none: the kernel refuses outside too
# inside: refused (EPERM|EINVAL)$
return told(syscall(56, 0x10f00 | 0x10000000, 0, 0, 0, 0))
