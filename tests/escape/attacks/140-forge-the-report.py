# Finds the page by which it is told what became of it, and forges on it that
# there never was a sandbox, with a text of its own.
# control: none: there is no such page outside
# inside: worker-exit: worker exited with code 5 before completing$
class Info(ctypes.Structure):
    _fields_ = [("base", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("headers", ctypes.c_void_p), ("count", ctypes.c_ushort)]
spans = []
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Info), ctypes.c_size_t,
                  ctypes.c_void_p)
def see(info, size, data):
    if not spans:
        raw = ctypes.string_at(info.contents.headers, 56 * info.contents.count)
        for i in range(info.contents.count):
            kind, flags = (int.from_bytes(raw[i * 56 + o:i * 56 + o + 4],
                                          "little") for o in (0, 4))
            at, size_ = (int.from_bytes(raw[i * 56 + o:i * 56 + o + 8],
                                        "little") for o in (16, 40))
            if kind == 1 and flags & 2:
                spans.append((info.contents.base + at, size_))
    return 0
libc.dl_iterate_phdr(see, None)
if not spans:
    return refused("no data of the executable's own")
vec = ctypes.create_string_buffer(1)
mapped = lambda at: not isinstance(syscall(27, at, 4096, vec), str)
for start, size in spans:
    for at in range(start & ~7, start + size - 7, 8):
        page = ctypes.c_size_t.from_address(at).value
        if page & 4095 or page < 1 << 40 or page >> 47 or not mapped(page):
            continue
        words = (ctypes.c_int * 1024).from_address(page)
        if any(words):
            continue
        # the other page, of its beginnings, is to lie behind it: would it
        # be there, the text would be believed
        if mapped(page + 4096) and not any(
                (ctypes.c_int * 1024).from_address(page + 4096)[4:8]):
            continue
        for i in range(0, 1024):
            words[i] = 0x41414141
        words[0] = 1
        words[1] = 0
        os._exit(5)
return refused("not found")
