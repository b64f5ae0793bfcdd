# Leaves at the very moment at which it returns.
# outside: (exit 9|value .*)
# inside: worker-exit: worker exited with code 9 before completing$|refused returned$
import threading
threading.Thread(target=lambda: os._exit(9)).start()
return refused("returned")
