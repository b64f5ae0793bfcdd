# The old way out of a root: into another one, and up.
# control: namespace
# inside: refused EPERM$
os.makedirs("/tmp/cage", exist_ok=True)
outcome = tried(os.chroot, "/tmp/cage")
return outcome
