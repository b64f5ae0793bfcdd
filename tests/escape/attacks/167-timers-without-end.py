# Timers, each of which is memory of the kernel's.
# inside: refused EAGAIN 2\d\d$
timer, count, end = ctypes.c_int(), 0, ""
for i in range(1000):
    answer = syscall(222, 1, None, ctypes.byref(timer))
    if answer != 0:
        end = answer
        break
    count += 1
return (refused if end else happened)(f"{end} {count}")
