# Fills a file system with empty files.
# inside: refused ENOSPC [1-4]\d\d\d$
folder = ("/tmp" if world["inside"] else world["folder"]) + "/many"
os.mkdir(folder)
end, count = "", 0
for count in range(6000):
    try:
        os.mkdir(f"{folder}/{count}")
    except OSError as error:
        end = name_of(error.errno)
        break
for i in range(count):
    os.rmdir(f"{folder}/{i}")
return (refused if end else happened)(f"{end} {count}")
