# Takes another process's semaphore.
# inside: refused EPERM$
return told(syscall(64, world["key"], 1, 0))
