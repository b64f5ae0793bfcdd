# The same for all that it will ever map.
# control: root, may refuse: kernels before 6.4 have no such call
# inside: refused EPERM$
return told(syscall(157, 67, 1, 0, 0, 0))
