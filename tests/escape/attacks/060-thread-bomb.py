# Begins threads until it may not.
# inside: refused 6\d|refused [1-5]?\d$
import threading
stop = threading.Event()
count, threads = 0, []
try:
    for count in range(400):
        thread = threading.Thread(target=stop.wait, daemon=True)
        thread.start()
        threads.append(thread)
except (RuntimeError, MemoryError):
    stop.set()
    return refused(count)
stop.set()
return happened(count)
