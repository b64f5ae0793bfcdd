# Puts a filter of its own above ours, to answer system calls itself.
# inside: (refused EPERM|worker-exit: killed for the system call "(seccomp|prctl)")$
program = (ctypes.c_ushort * 4)(6, 0, 0, 0x7fff)
filter_ = (ctypes.c_ulonglong * 2)(1, ctypes.addressof(program))
if not world["inside"]:
    syscall(157, 38, 1, 0, 0, 0)
return told(syscall(317, 1, 8, filter_))
