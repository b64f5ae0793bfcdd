# One block of memory, larger than all that it may have.
# inside: worker-exit: out of memory: heap limit 128 MiB$
block = bytearray(1 << 30)
return happened(len(block))
