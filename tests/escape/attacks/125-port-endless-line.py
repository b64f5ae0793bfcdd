# One message that never ends.
# outside: value .*reader heard
# inside: (worker-exit|output-limit|timeout): .*
os.set_blocking(3, True)
os.write(3, b'{"type":"log","text":"')
for i in range(200 if not world["inside"] else 100000):
    os.write(3, b"x" * 65536)
return happened("all taken")
