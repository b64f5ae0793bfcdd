# Locks of one byte each: memory of the kernel's that no limit counts.
# inside: refused EINVAL 0$
import fcntl, struct, tempfile
file = tempfile.TemporaryFile()
count, end = 0, ""
for i in range(20000):
    try:
        fcntl.fcntl(file, 37, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 2 * i,
                                          1, 0))
        count += 1
    except OSError as error:
        end = name_of(error.errno)
        break
return (refused if end else happened)(f"{end} {count}")
