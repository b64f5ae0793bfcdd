# Opens another process's queue of messages.
# inside: refused EPERM$
return told(syscall(68, world["key"], 0))
