# Writes a file that everybody outside may write.
# inside: refused ENOENT$
return tried(lambda: open(world["writable"], "a").write(""))
