# Puts itself before all others.
# control: root
# inside: refused (EPERM|EACCES| )+$
def nice():
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    os.setpriority(os.PRIO_PROCESS, 0, 0)
return first(tried(nice), tried(os.nice, -1) if world["inside"] else
             refused(""), tried(os.setpriority, os.PRIO_USER, 0, 5)
             if world["inside"] else refused(""))
