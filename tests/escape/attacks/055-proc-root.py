# Reaches the file system by way of a process.
# inside: refused (ENOENT ?)+$
return first(*(tried(read, f"/proc/{x}{world['secret']}") for x in (
    "self/root", "1/root", f"{world['pid']}/root", "self/cwd/..",
    "thread-self/root")))
