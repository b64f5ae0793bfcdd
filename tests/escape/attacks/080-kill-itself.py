# Ends itself by the signal that can't be caught.
# outside: signal 9
# inside: worker-exit: killed by SIGKILL$
os.kill(os.getpid(), 9)
return happened("lived on")
