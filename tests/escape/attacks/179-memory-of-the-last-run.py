# Looks for what the last run had in memory, page by page through a pipe, which
# says of each address whether it is there.
# inside: refused 0$
mark = b"capsid-" + b"left-" + str(world["pid"] * 7919).encode()
import builtins
# of the interpreter's own heap, and of the C library's
builtins.kept = [mark * n for n in (10, 100) for i in range(2000)]
return refused("")
# ---- the next run
inner, outer = os.pipe()
mark, found, looked = str(world["pid"] * 7919).encode(), 0, 0
wanted = b"capsid-" + b"left-" + mark
class Thing:
    pass
around = [id(Thing()), id(bytearray(5000)),
          ctypes.addressof(ctypes.create_string_buffer(3000))]
seen = set()
for address in around:
    for page in range((address >> 12) - 2048, (address >> 12) + 2048):
        if page in seen:
            continue
        seen.add(page)
        if libc.write(outer, ctypes.c_void_p(page << 12),
                      ctypes.c_size_t(4096)) == 4096:
            looked += 1
            # what it looks for is in its own memory once, not in a row
            data = os.read(inner, 4096)
            at = data.find(wanted)
            found += at >= 0 and data.startswith(wanted, at + len(wanted))
if looked < 100:
    return refused(f"looked at {looked} pages")
return (happened if found else refused)(found)
