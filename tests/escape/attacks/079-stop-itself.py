# Stops itself, so that whoever waits for it waits for ever.
# inside: refused went on$
import signal
try:
    child = os.fork()
except OSError:
    os.kill(os.getpid(), signal.SIGSTOP)
    return refused("went on")
if child == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(0)
status = os.waitpid(child, os.WUNTRACED)[1]
os.kill(child, 9)
os.waitpid(child, 0)
return (happened if os.WIFSTOPPED(status) else refused)(status)
