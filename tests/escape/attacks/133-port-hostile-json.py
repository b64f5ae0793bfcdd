# Values that break readers: depth, size, numbers, surrogates, keys twice.
# outside: value .*reader heard
# inside: refused sent$
os.set_blocking(3, True)
call = b'{"type":"call","id":%d,"namespace":"tools","name":"echo","argument":%s}\n'
for i, value in enumerate((
        b"[" * 200000 + b"]" * 200000, b"[" * 200000, b"1" * 100000, b"-0",
        b"1e400", b"9007199254740993", b'"\\ud800"', b'"\xed\xa0\x80"',
        b'{"a":1,"a":2}', b'{"__proto__":{"x":1}}', b'"\0"', b"NaN", b"01",
        b'"' + b"x" * 3000000 + b'"')):
    os.write(3, call % (5000 + i, value))
os.set_blocking(3, False)
if world["inside"]:
    import asyncio
    await asyncio.sleep(0.2)
    return refused("sent")
return happened("sent")
