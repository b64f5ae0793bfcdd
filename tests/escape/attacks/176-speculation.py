# Asks for another treatment of speculation, its own or of its time stamps.
# inside: refused EPERM$
return told(syscall(157, 26, 1, 0, 0, 0))
