# Becomes, or begins, another program.
# inside: refused (EPERM|ENOENT| )+$
import subprocess
def become():
    os.execv("/bin/true", ["true"])
outcomes = [tried(subprocess.check_output, ["/bin/sh", "-c", "echo x"]),
            tried(os.posix_spawn, "/bin/sh", ["sh", "-c", ":"], {})]
if world["inside"]:
    outcomes += [tried(become), tried(
        os.execv, "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", ["x"])]
return first(*outcomes)
