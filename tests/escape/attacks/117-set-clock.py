# Changes the speed of the machine's clock (to what it is).
# control: root
# inside: refused (EPERM ?)+$
import time
timex = ctypes.create_string_buffer(256)
syscall(159, timex)
ctypes.memmove(timex, (ctypes.c_uint * 1)(2), 4)
return first(told(syscall(159, timex)),
             tried(time.clock_settime, time.CLOCK_REALTIME, time.time())
             if world["inside"] else refused(""))
