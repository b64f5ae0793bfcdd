# Renames the machine.
# control: namespace
# inside: refused EPERM$
return tried(__import__("socket").sethostname, "capsid-escape")
