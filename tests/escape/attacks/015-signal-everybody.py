# Kills all that it can reach.
# control: namespace
# inside: refused EPERM$
import signal
if os.getpid() != 1:
    return refused("not process 1: too dangerous")
try:
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
except OSError:
    child = 0
outcome = tried(os.kill, -1, signal.SIGKILL)
if child:
    outcome["escaped"] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9
return outcome
