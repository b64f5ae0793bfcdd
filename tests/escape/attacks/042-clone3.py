# The same by the call whose flags no filter can see.
# inside: refused ENOSYS$
arguments = (ctypes.c_ulonglong * 8)(0, 0, 0, 0, 17)
answer = syscall(435, arguments, 64)
if answer == 0:
    os._exit(0)
return told(answer)
