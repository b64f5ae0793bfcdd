# Another thread changes what is returned while it is looked at. Outside, whoever
# looks twice sees two things.
# inside: value \[.*|invalid-output: .*
import json, threading
value = [[1, "a"] for i in range(20000)]
stop = False
def twist():
    while not stop:
        for i in range(0, 20000, 7):
            value[i].append(object())
            value[i][0] = {1, 2}
            value[i].pop()
            value[i][0] = 1
for i in range(2):
    threading.Thread(target=twist, daemon=True).start()
if world["inside"]:
    return value
seen = {json.dumps(value, default=repr) for i in range(50)}
stop = True
return (happened if len(seen) > 1 else refused)(len(seen))
