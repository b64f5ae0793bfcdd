# Leaves an ear by name in a namespace that runs share.
# inside: refused EPERM$
import socket
def leave():
    import builtins
    builtins.ear = ear = socket.socket(socket.AF_UNIX)
    ear.bind("\0capsid-escape-left")
    ear.listen()
return tried(leave) and refused("")
# ---- the next run
import socket
return tried(lambda: socket.socket(socket.AF_UNIX).connect("\0capsid-escape-left"))
