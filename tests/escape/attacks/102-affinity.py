# Chooses its processors.
# inside: refused EPERM$
return tried(os.sched_setaffinity, 0, os.sched_getaffinity(0))
