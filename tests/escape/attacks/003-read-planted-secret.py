# Reads a file that everybody outside may read, by its exact path.
# inside: refused ENOENT$
return tried(read, world["secret"])
