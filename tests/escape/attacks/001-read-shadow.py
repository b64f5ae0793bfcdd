# Reads the machine's passwords.
# control: root
# inside: refused ENOENT$
return tried(read, "/etc/shadow")
