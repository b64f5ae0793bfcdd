# System calls of 32-bit programs, numbered otherwise, out of 64-bit code.
# inside: worker-exit: killed for a system call: of another machine, .*$
import mmap
# push rbx; mov eax, 20 (getpid); int 0x80; pop rbx; ret
code = bytes.fromhex("53b814000000cd805bc3")
page = mmap.mmap(-1, 4096, prot=7)
page.write(code)
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
answer = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
return (happened if answer == os.getpid() else refused)(answer)
