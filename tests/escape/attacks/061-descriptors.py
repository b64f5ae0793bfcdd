# Opens files until it may not.
# inside: refused EMFILE 2\d\d$
files, end = [], ""
while len(files) < 600:
    try:
        files.append(os.open("/dev/null", 0))
    except OSError as error:
        end = name_of(error.errno)
        break
for fd in files:
    os.close(fd)
return (refused if len(files) < 600 else happened)(f"{end} {len(files)}")
