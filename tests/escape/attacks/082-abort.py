# Ends itself with all signals blocked and abort() in native code.
# outside: signal 6
# inside: worker-exit: killed by SIGABRT$
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
libc.abort()
return happened("lived on")
