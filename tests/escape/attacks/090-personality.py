# Turns the randomness of addresses off.
# inside: refused EPERM$
return told(syscall(135, 0x40000))
