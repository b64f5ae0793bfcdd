# Makes a read-only mount writable.
# control: namespace
# inside: worker-exit: killed for the system call "mount_setattr"$
where = os.path.dirname(os.__file__).encode() if world["inside"] else b"/"
attr = (ctypes.c_ulonglong * 4)(0, 1, 0, 0)
return told(syscall(442, -100, where, 0, attr, 32))
