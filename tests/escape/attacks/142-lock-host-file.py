# Locks a file of the host's that it may only read: who waits for the lock
# outside waits for the program, and two programs can talk by it. It looks for
# its lock by another open file: there is none of its range.
# inside: refused EINVAL$
import fcntl, struct
one, other = open(os.__file__), open(os.__file__)
lock = struct.pack("hhqqi", fcntl.F_RDLCK, 0, 0, 1, 0)
fcntl.fcntl(one, fcntl.F_SETLK, lock)
try:
    answer = fcntl.fcntl(other, 36, struct.pack(
        "hhqqi", fcntl.F_WRLCK, 0, 0, 1, 0))
except OSError as error:
    return refused(name_of(error.errno))
kind = struct.unpack("hhqqi", answer)[0]
return (happened if kind != fcntl.F_UNLCK else refused)(kind)
