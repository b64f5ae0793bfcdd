# Tries the lock (flock) that another process has of a file that both may read:
# so a program could wait for the host, or talk to another one.
# inside: refused unlocked$
import fcntl
try:
    fcntl.flock(open(world["library"]), fcntl.LOCK_SH | fcntl.LOCK_NB)
except BlockingIOError as error:
    return happened(name_of(error.errno))
return refused("unlocked")
