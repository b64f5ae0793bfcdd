# Has its parent trace it.
# inside: worker-exit: killed for the system call "ptrace"$
return told(syscall(101, 0, 0, 0, 0))
