# Writes through the interpreter's own objects until it is no longer one.
# outside: signal \d+|exit \d+.*
# inside: worker-exit: .*
for x in (type(None), int, str, list, dict, object):
    ctypes.memset(id(x) + 24, 0x41, 300)
return happened("lived on")
