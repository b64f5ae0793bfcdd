# Symbolic links in /tmp to files outside.
# inside: refused (ENOENT ?)+$
import tempfile
with tempfile.TemporaryDirectory() as folder:
    outcomes = []
    for i, target in enumerate((world["secret"], "/proc/self/root" +
                                world["secret"], "../" * 20 + world["secret"])):
        os.symlink(target, f"{folder}/{i}")
        outcomes.append(tried(read, f"{folder}/{i}"))
return first(*outcomes)
