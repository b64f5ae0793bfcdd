# Traces another process.
# inside: worker-exit: killed for the system call "ptrace"$
answer = syscall(101, 16, world["pid"], 0, 0)
if answer == 0:
    os.waitpid(world["pid"], 0x40000000)
    syscall(101, 17, world["pid"], 0, 0)
return told(answer)
