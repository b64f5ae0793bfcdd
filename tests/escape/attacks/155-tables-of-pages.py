# One page in each GiB of addresses: the tables of those pages are memory, and
# no limit of its addresses or data counts them.
# inside: worker-exit: out of memory: heap limit 128 MiB$
import time
libc.mmap.restype = ctypes.c_void_p
for i in range(50000):
    start = libc.mmap(ctypes.c_void_p((1 << 44) + (i << 30)),
                      ctypes.c_size_t(4096), 1, 0x100022, -1, 0)
    if start in (None, 2**64 - 1):
        return refused(f"{name_of(ctypes.get_errno())} {i}")
    ctypes.c_char.from_address(start).value
time.sleep(0.2)
return happened(50000)
