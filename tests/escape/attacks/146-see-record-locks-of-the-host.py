# Asks for the record locks of a file of the host's that it may read.
# inside: refused unlocked$
import fcntl, struct
path = world["library"]
answer = fcntl.fcntl(open(path), fcntl.F_GETLK,
                     struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 1, 0))
kind = struct.unpack("hhqqi", answer)[0]
return (refused("unlocked") if kind == fcntl.F_UNLCK else happened(kind))
