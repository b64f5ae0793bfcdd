# Floods the port with what is no message, then returns rightly.
# outside: value .*reader heard junk
# inside: refused flooded$
junk = (b"junk\n" + b"\0\n" + b"{}\n[]\n" + b"\r" + b"\xff\xfe\n" +
        b'{"type":"boot","protocol":1}\n' + b'{"type":"reply","id":1}\n' +
        b'{"type":"call","id":1e999}\n' + b"[" * 500 + b"\n") * 100
os.set_blocking(3, True)
sent = 0
for i in range(50):
    sent += os.write(3, junk)
os.set_blocking(3, False)
if world["inside"]:
    return refused("flooded")
return happened(sent)
