# Signals its parent, its group and, as the kernel numbers it, process 0.
# inside: refused (EPERM ?)+$
import signal
signal.signal(signal.SIGURG, signal.SIG_IGN)
return first(tried(os.kill, os.getppid(), signal.SIGURG),
             tried(os.kill, 0, signal.SIGURG), tried(os.killpg, 0, signal.SIGURG))
