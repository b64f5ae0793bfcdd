# Waits in native code for ever, the interpreter's lock held, signals blocked.
# outside: ignores SIGTERM
# inside: timeout: wall-clock ceiling reached \(2500ms\)$
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True:
    ctypes.PyDLL(None).pause()
