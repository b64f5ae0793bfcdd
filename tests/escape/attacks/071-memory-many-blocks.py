# Memory a little at a time, touched.
# inside: worker-exit: out of memory: heap limit 128 MiB$
blocks = []
for i in range(600):
    blocks.append(b"%d" % i * (1 << 18))
return happened(len(blocks))
