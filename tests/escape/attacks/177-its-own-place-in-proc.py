# Writes to its own files of /proc: the order in which the kernel kills, what is
# in a core, the slack of timers; and opens a file anew that it may only read.
# inside: refused (ENOENT|EACCES)( (ENOENT|EACCES|EROFS)){4}$
def write(name, text):
    with open("/proc/self/" + name, "w") as file:
        return file.write(text)
def reopen():
    with open(world["library"]) as reader:
        return os.open(f"/proc/self/fd/{reader.fileno()}", os.O_RDWR)
return first(tried(write, "oom_score_adj", "1000"),
             tried(write, "coredump_filter", "0x7f"),
             tried(write, "timerslack_ns", "1"),
             tried(write, "clear_refs", "1"),
             tried(reopen))
