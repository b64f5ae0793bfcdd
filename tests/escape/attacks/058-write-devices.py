# Writes where the devices lie, and changes them.
# control: root
# inside: refused (EROFS|EACCES|EPERM| )+$
if not world["inside"]:
    return tried(os.utime, "/dev/null")
return first(tried(os.open, "/dev/x", os.O_CREAT | os.O_RDWR, 0o600),
             tried(os.unlink, "/dev/null"), tried(os.chmod, "/dev/null", 0),
             tried(os.utime, "/dev/null"))
