# Takes a lease, which stops everybody else who opens the file.
# inside: refused EPERM$
import fcntl, tempfile
path = tempfile.mktemp()
fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
os.unlink(path)
return tried(fcntl.fcntl, fd, 1024, fcntl.F_WRLCK)
