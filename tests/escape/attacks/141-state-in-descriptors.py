# Leaves a mark on what its descriptors and the next run's may have in common:
# flags, positions, locks.
# inside: refused \[\]$
import fcntl
for fd in range(3):
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL)
                | os.O_NONBLOCK | os.O_APPEND)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pass
return refused("")
# ---- the next run
import fcntl
found = []
for fd in range(3):
    # the memory file of 1 and 2 is opened to append, by each run for itself
    mark = os.O_NONBLOCK
    if fcntl.fcntl(fd, fcntl.F_GETFL) & mark:
        found.append(f"flags of {fd}")
return (happened if found else refused)(found)
