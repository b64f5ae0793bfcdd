# What the attacks have in common; the text of it stands before each of them,
# inside and outside.
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def name_of(code):
    return errno.errorcode.get(code, str(code))


def syscall(number, *args):
    """The answer, or the name of the error."""
    ctypes.set_errno(0)
    answer = libc.syscall(ctypes.c_long(number), *(
        ctypes.c_long(x) if isinstance(x, int) else x for x in args))
    return name_of(ctypes.get_errno()) if answer == -1 else answer


def happened(detail):
    return {"escaped": True, "detail": str(detail)[:400]}


def refused(detail):
    return {"escaped": False, "detail": str(detail)[:400]}


def told(answer):
    """Of one system call: it happened unless there is an error's name."""
    return (refused if isinstance(answer, str) else happened)(answer)


def tried(act, *args, **names):
    """Of a function that raises what is refused."""
    try:
        return happened(act(*args, **names))
    except OSError as error:
        return refused(name_of(error.errno) if error.errno else error)
    except Exception as error:
        return refused(repr(error))


def first(*outcomes):
    """The first that happened; else all refusals, which must be alike to the
    eye of the attack's `inside` line."""
    for outcome in outcomes:
        if outcome["escaped"]:
            return outcome
    return refused(" ".join(x["detail"] for x in outcomes))


def read(path, most=4096):
    with open(path, "rb", buffering=0) as file:
        return file.read(most)
