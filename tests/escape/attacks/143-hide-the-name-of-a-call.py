# Makes a call that it may not make with all signals blocked, so that nobody
# could say which it was.
# inside: worker-exit: killed for the system call "ptrace"$
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
return told(syscall(101, 0, 0, 0, 0))
