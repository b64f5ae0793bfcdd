# Looks for any of the files that every machine has.
# inside: refused (ENOENT ?)+$
# in container: refused (ENOENT ?|EACCES ?)+$
return first(*(tried(read if not os.path.isdir(x) else os.listdir, x) for x in (
    "/etc/passwd", "/etc/hostname", "/etc", "/home", "/root", "/var", "/run",
    "/boot", "/opt", "/srv", "/usr/bin", "/usr/local", "/bin/sh", "/proc",
    "/sys", "/sys/fs/cgroup", "/etc/resolv.conf", "/var/run/docker.sock",
    "/usr/lib/systemd", "/.dockerenv")))
