# Looks for what the host's environment left in its own: variables, and the
# bytes of the stack behind them, which nobody cleans.
# inside: refused nothing$
found = [x for x in os.environ if x.startswith("CAPSID_ESCAPE")]
start = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
if start:
    for i in range(1000):
        if start[i] is None:
            break
        if b"CAPSID_ESCAPE" in start[i]:
            found.append(start[i])
mark = b"CAPSID_" + b"ESCAPE_SECRET="
arguments = ctypes.c_void_p.in_dll(libc, "program_invocation_name").value
page = arguments & ~4095
while not isinstance(syscall(27, page, 4096, ctypes.create_string_buffer(1)), str):
    if mark in ctypes.string_at(page, 4096):
        found.append("stack")
    page += 4096
return happened(found) if found else refused("nothing")
