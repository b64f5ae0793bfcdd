# Leaves a file for the next run.
# inside: refused ENOENT$
path = f"/tmp/capsid-escape-left-{world['pid']}"
with open(path, "w") as file:
    file.write("left")
return refused("")
# ---- the next run
path = f"/tmp/capsid-escape-left-{world['pid']}"
outcome = tried(read, path)
if outcome["escaped"]:
    os.unlink(path)
return outcome
