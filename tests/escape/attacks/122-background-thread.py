# Leaves a thread that goes on when the run is over.
# inside: refused ENOENT$
import threading, time
folder = "/tmp" if world["inside"] else world["folder"]
def later():
    while True:
        time.sleep(0.05)
        with open(f"{folder}/capsid-escape-thread-{world['pid']}", "w") as file:
            file.write("later")
threading.Thread(target=later, daemon=True).start()
return refused("")
# ---- the next run
import time
time.sleep(0.3)
folder = "/tmp" if world["inside"] else world["folder"]
path = f"{folder}/capsid-escape-thread-{world['pid']}"
return tried(read, path)
