# Has the host answer, and never reads the answers.
# outside: value .*reader heard
# inside: (worker-exit|timeout|refused).*
os.set_blocking(3, True)
big = b"x" * 100000
for i in range(300):
    os.write(3, b'{"type":"call","id":%d,"namespace":"tools","name":"echo",'
                b'"argument":"%s"}\n' % (6000 + i, big))
os.set_blocking(3, False)
return (refused if world["inside"] else happened)("sent")
