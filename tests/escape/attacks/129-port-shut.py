# Shuts one direction of the port, then the other.
# outside: value .*reader saw the end
# inside: (worker-exit|timeout): .*
libc.shutdown(3, 2)
return happened("shut")
