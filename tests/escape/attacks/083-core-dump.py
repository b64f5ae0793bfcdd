# Makes itself leave its memory in a file.
# inside: refused (EPERM|EINVAL)$
return told(syscall(157, 4, 1, 0, 0, 0))
