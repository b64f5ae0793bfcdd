# Opens a pipe with a name.
# inside: refused ENOENT$
return tried(os.open, world["fifo"], os.O_RDWR | os.O_NONBLOCK)
