# Memory by mmap, private and shared, caught when it is refused.
# inside: refused (ENOMEM|EPERM) \d+$|worker-exit: out of memory: heap limit 128 MiB$
import mmap
maps, end = [], ""
for i in range(500):
    try:
        maps.append(mmap.mmap(-1, 1 << 20, mmap.MAP_SHARED if i % 2 else
                              mmap.MAP_PRIVATE))
    except OSError as error:
        end = name_of(error.errno)
        break
    maps[-1].write(b"x" * (1 << 20))
return (refused if end else happened)(f"{end} {len(maps)}")
