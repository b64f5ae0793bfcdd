# Closes the port, and waits.
# outside: value .*reader saw the end
# inside: worker-exit: .*
os.close(3)
import time
if world["inside"]:
    time.sleep(60)
return happened("closed")
