# Takes another identity.
# control: root
# inside: refused (EPERM ?)+$
if not world["inside"]:
    return tried(os.setgroups, [1])
return first(*(tried(f, *a) for f, a in (
    (os.setuid, (0,)), (os.setgid, (0,)), (os.setresuid, (0, 0, 0)),
    (os.setresgid, (0, 0, 0)), (os.setgroups, ([0],)), (os.setreuid, (1, 1)),
    (os.setuid, (os.getuid(),)))))
