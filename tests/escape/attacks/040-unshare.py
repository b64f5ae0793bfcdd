# Makes itself a user namespace, in which it would be root.
# control: user, may refuse: user namespaces may be forbidden to ordinary users
# inside: refused EPERM$
return told(syscall(272, 0x10000000))
