# Clears the signal that it gets when its parent dies.
# inside: refused EPERM EPERM$
return first(told(syscall(157, 1, 0, 0, 0, 0)),
             told(syscall(157, 36, 1, 0, 0, 0)))
