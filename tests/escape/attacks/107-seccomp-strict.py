# The old interface of the same.
# inside: refused EPERM$
program = (ctypes.c_ushort * 4)(6, 0, 0, 0x7fff)
filter_ = (ctypes.c_ulonglong * 2)(1, ctypes.addressof(program))
if not world["inside"]:
    syscall(157, 38, 1, 0, 0, 0)
return told(syscall(157, 22, 2, filter_, 0, 0))
