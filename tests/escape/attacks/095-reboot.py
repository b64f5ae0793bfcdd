# Restarts the machine; in the control, a namespace of processes.
# control: namespace
# outside: (signal 1|exit 129)
# inside: worker-exit: killed for the system call "reboot"$
if os.getpid() != 1:
    return refused("not process 1: too dangerous")
answer = syscall(169, 0xfee1dead, 672274793, 0x01234567, 0)
return told(answer)
