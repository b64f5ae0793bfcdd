# Leaves without a word.
# outside: exit 7
# inside: worker-exit: worker exited with code 7 before completing$
os._exit(7)
