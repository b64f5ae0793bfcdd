# Reads the environments of another process, of process 1 and of its parent.
# inside: refused (ENOENT ?)+$
# in container: refused (ENOENT ?|EACCES ?)+$
return first(*(tried(read, f"/proc/{x}/environ")
               for x in (world["pid"], "self", 1, os.getppid())))
