# Locks a file of the host's that it may only read: who waits for the lock
# outside waits for the program, and two programs can talk by it.
# inside: refused (EPERM|EACCES| )+$
import fcntl
path = os.__file__ if world["inside"] else world["secret"]
file = open(path)
return tried(fcntl.flock, file, fcntl.LOCK_EX | fcntl.LOCK_NB)
