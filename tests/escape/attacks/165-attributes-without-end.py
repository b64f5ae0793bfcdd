# Extended attributes of a file: memory beside the size of its file system.
# control: user, may refuse: a file system may have no such attributes
# inside: refused ENOTSUP$
import tempfile
with tempfile.NamedTemporaryFile(
        dir="/tmp" if world["inside"] else world["folder"]) as file:
    return tried(os.setxattr, file.name, "user.x", b"x" * 4000)
