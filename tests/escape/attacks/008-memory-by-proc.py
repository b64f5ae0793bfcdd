# Opens another process's memory as a file.
# inside: refused ENOENT$
def look():
    with open(f"/proc/{world['pid']}/mem", "rb", buffering=0) as file:
        file.seek(world["address"])
        return file.read(64)
return tried(look)
