# Rules of Landlock's for itself: memory of the kernel's, and code of it that no
# program needs.
# control: user, may refuse: a kernel may have no Landlock
# inside: worker-exit: killed for the system call "landlock_create_ruleset"$
rules = (ctypes.c_uint64 * 1)(1)
return told(syscall(444, rules, 8, 0))
