# Locks a device that all runs may write to: two programs could talk by it.
# inside: refused EINVAL$
import fcntl, struct
one, other = os.open("/dev/null", os.O_RDWR), os.open("/dev/null", os.O_RDWR)
lock = struct.pack("hhqqi", fcntl.F_WRLCK, 0, world["pid"], 1, 0)
try:
    fcntl.fcntl(one, 37, lock)
    answer = fcntl.fcntl(other, 36, lock)
except OSError as error:
    return refused(name_of(error.errno))
finally:
    os.close(one)
kind = struct.unpack("hhqqi", answer)[0]
return (happened if kind != fcntl.F_UNLCK else refused)(kind)
