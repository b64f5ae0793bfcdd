# Undoes what keeps others from looking into it, and it from its own /proc.
# inside: refused EPERM EPERM$
return first(told(syscall(157, 4, 1, 0, 0, 0)),
             told(syscall(157, 0x59616d61, -1, 0, 0, 0)))
