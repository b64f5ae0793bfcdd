# Blocks and ignores all signals and runs hot in many threads.
# outside: ignores SIGTERM
# inside: timeout: compute budget exhausted \(\d+ms busy\)$
import signal, threading
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
def burn():
    while True:
        pass
for i in range(8):
    threading.Thread(target=burn).start()
burn()
