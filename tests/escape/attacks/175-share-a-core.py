# Takes part in the choice of who runs beside it on a processor.
# control: root, may refuse: a kernel may not have been made for it
# inside: refused EPERM$
return told(syscall(157, 62, 1, 0, 0, 0))
