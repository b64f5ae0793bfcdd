# Signals that are blocked and wait, each of which is memory of the kernel's.
# inside: refused EAGAIN 2\d\d$
import signal, threading
number, count, end = signal.SIGRTMIN + 3, 0, ""
signal.pthread_sigmask(signal.SIG_BLOCK, [number])
for i in range(1000):
    answer = syscall(234, os.getpid(), threading.get_native_id(), number)
    if answer != 0:
        end = answer
        break
    count += 1
return (refused if end else happened)(f"{end} {count}")
