# Signals another process.
# inside: refused (EPERM|ESRCH)$
return tried(os.kill, world["pid"], 10)
