# Runs before everything that is not real-time.
# control: root, may refuse: a group of real-time processes may be forbidden
# inside: refused EPERM$
return tried(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1))
