# Calls by hand: ids used twice, out of range, names that were never given.
# outside: value .*reader heard
# inside: refused sent$
# calls: 1
os.set_blocking(3, True)
call = ('{"type":"call","id":%s,"namespace":"%s","name":"%s","argument":1}\n')
for id, space, name in (
        (4000000, "tools", "echo"), (0, "tools", "echo"),
        (-1, "tools", "echo"), (4294967296, "tools", "echo"),
        ("1.5", "tools", "echo"), ('"7"', "tools", "echo"),
        (4000001, "tools", "constructor"), (4000002, "tools", "__proto__"),
        (4000003, "__proto__", "echo"), (4000004, "tools", "echo\\u0000"),
        (4000005, "tools", "Echo"), (4000006, "", "")):
    os.write(3, (call % (id, space, name)).encode())
os.set_blocking(3, False)
if world["inside"]:
    import asyncio
    await asyncio.sleep(0.2)
    return refused("sent")
return happened("sent")
