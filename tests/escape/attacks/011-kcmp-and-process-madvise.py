# Compares with and advises another process through calls few filters know.
# control: root
# inside: worker-exit: killed for the system call "kcmp"$
answer = syscall(312, os.getpid(), world["pid"], 1, 0, 0)
return told(answer)
