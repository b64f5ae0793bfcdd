# Ends itself by a fault.
# outside: signal 11
# inside: worker-exit: killed by SIGSEGV$
ctypes.string_at(8)
return happened("lived on")
