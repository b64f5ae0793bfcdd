# A table of descriptors for each thread, and so many times the limit: by a
# call that is there to close some.
# inside: refused EPERM 0$
import threading
threading.stack_size(1 << 16)
made, ends, over = [], [], threading.Event()
def fill():
    # no descriptor is as high: it closes none
    if syscall(436, 100000, 100001, 2) != 0:
        ends.append(name_of(ctypes.get_errno()))
        return
    for i in range(100):
        made.append(os.eventfd(0))
    over.wait(2)
threads = [threading.Thread(target=fill) for i in range(8)]
for thread in threads:
    thread.start()
for i in range(100):
    if len(made) == 800 or len(ends) == 8:
        break
    over.wait(0.02)
over.set()
for thread in threads:
    thread.join()
return (happened if made else refused)(f"{ends[0] if ends else ''} {len(made)}")
