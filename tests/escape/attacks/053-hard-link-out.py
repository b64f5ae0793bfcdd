# A second name for a file that it may only read, where it may write.
# inside: refused (ENOENT|EXDEV|EROFS|EACCES|EPERM| )+$
if not world["inside"]:
    return tried(os.link, world["writable"], world["writable"] + ".link")
return first(tried(os.link, world["writable"], "/tmp/link"),
             tried(os.link, os.__file__, "/tmp/link"),
             tried(os.link, "/dev/zero", "/tmp/link"),
             tried(os.rename, os.__file__, "/tmp/link"))
