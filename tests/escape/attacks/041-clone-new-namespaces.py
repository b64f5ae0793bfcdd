# Begins a child in new namespaces.
# control: user, may refuse: user namespaces may be forbidden to ordinary users
# inside: refused EPERM$
answer = syscall(56, 0x10000000 | 0x20000000 | 17, 0, 0, 0, 0)
if answer == 0:
    os._exit(0)
return told(answer)
