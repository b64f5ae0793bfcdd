# Writes the files that the next run will import.
# control: root
# inside: refused (EROFS|EACCES|EPERM| )+$
if not world["inside"]:
    return tried(lambda: open(os.__file__, "ab").close())
there = os.path.dirname(os.__file__)
return first(tried(open, os.__file__, "ab"),
             tried(open, there + "/capsid_escape.py", "w"),
             tried(os.unlink, os.__file__), tried(os.mkdir, there + "/x"),
             tried(os.rename, os.__file__, there + "/x.py"),
             tried(os.truncate, os.__file__, 0),
             tried(os.utime, os.__file__), tried(os.chmod, os.__file__, 0o777),
             tried(open, "/usr/lib/x86_64-linux-gnu/libc.so.6", "ab"),
             tried(os.mkdir, "/x"), tried(os.mkdir, "/usr/x"))
