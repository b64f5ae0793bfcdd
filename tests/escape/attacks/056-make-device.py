# Makes a device file of its own.
# control: root
# inside: refused EPERM$
path = ("/tmp" if world["inside"] else world["folder"]) + "/device"
outcome = tried(os.mknod, path, 0o20600, os.makedev(1, 1))
if outcome["escaped"]:
    os.unlink(path)
return outcome
