# Gives itself capabilities.
# control: root
# inside: refused EPERM 0$
header = (ctypes.c_uint * 2)(0x20080522, 0)
data = (ctypes.c_uint * 6)()
syscall(125, header, data)
# all that it has in the permitted set, made effective
data[0], data[3] = data[1], data[4]
answer = syscall(126, header, data)
return (refused if isinstance(answer, str) else happened)(
    f"{answer} {data[1] | data[4]}")
