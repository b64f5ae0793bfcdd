# Some descriptors, each watched by many: memory of the kernel's by the product.
# inside: refused EPERM 0$
import select
count, end, kept = 0, "", []
try:
    files = [os.eventfd(0) for i in range(40)]
    for i in range(40):
        kept.append(select.epoll())
        for fd in files:
            kept[-1].register(fd, 0)
            count += 1
except OSError as error:
    end = name_of(error.errno)
return (refused if end else happened)(f"{end} {count}")
