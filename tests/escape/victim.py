"""The target of the attacks, a process with something to lose: a secret in its
environment, its memory and in every kind of shared thing that the kernel has;
ears on every kind of socket. Says where on its standard output, and answers
each line on its standard input with what was done to it.
"""
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys

folder, canary = sys.argv[1], os.environ["CAPSID_ESCAPE_SECRET"].encode()
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
memory = ctypes.create_string_buffer(b"memory-" + canary)
signals = 0


def on_signal(*_):
    global signals
    signals += 1


for number in signal.SIGUSR1, signal.SIGUSR2, signal.SIGIO, signal.SIGTERM:
    signal.signal(number, on_signal)


def listen(family, kind, address):
    ear = socket.socket(family, kind)
    ear.bind(address)
    if kind == socket.SOCK_STREAM:
        ear.listen()
    return ear


ears = {}
for name, family, kind, address in (
        ("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        ("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        ("tcp6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
        ("unix", socket.AF_UNIX, socket.SOCK_STREAM, folder + "/ear"),
        ("abstract", socket.AF_UNIX, socket.SOCK_STREAM,
         f"\0capsid-escape-{os.getpid()}"),
        ("abstract-datagram", socket.AF_UNIX, socket.SOCK_DGRAM,
         f"\0capsid-escape-{os.getpid()}-d")):
    try:
        ears[name] = listen(family, kind, address)
    except OSError:
        if name != "tcp6":
            raise

segment = libc.shmget(os.getpid(), 4096, 0o1666)
shared = libc.shmat(segment, None, 0)
ctypes.memmove(shared, b"shared-" + canary, 7 + len(canary))
semaphore = libc.semget(os.getpid(), 1, 0o1666)
queue = libc.msgget(os.getpid(), 0o1666)
posix = f"/dev/shm/capsid-escape-{os.getpid()}"
with open(posix, "wb") as file:
    file.write(b"posix-" + canary)
os.chmod(posix, 0o666)
os.mkfifo(folder + "/fifo")

# Locks of a file that programs may read, too: that of a process, which is
# another's to anybody else, and flock's.
library = os.path.join(os.path.dirname(os.__file__), "antigravity.py")
locked = [open(library, "rb"), open(library, "rb")]
locked[0].read()
fcntl.fcntl(locked[0], fcntl.F_SETLK,
            struct.pack("hhqqi", fcntl.F_RDLCK, 0, 0, 1, 0))
fcntl.flock(locked[1], fcntl.LOCK_EX)

heard = dict.fromkeys(ears, 0)
print(json.dumps({
    "pid": os.getpid(), "address": ctypes.addressof(memory),
    "tcp": ears["tcp"].getsockname()[1], "udp": ears["udp"].getsockname()[1],
    "tcp6": ears["tcp6"].getsockname()[1] if "tcp6" in ears else 0,
    "unix": folder + "/ear", "key": os.getpid(), "posix": posix,
    "fifo": folder + "/fifo", "library": library}), flush=True)


def cached():
    """Its file of the library is in memory still."""
    try:
        return os.preadv(locked[0].fileno(), [bytearray(16)], 0,
                         os.RWF_NOWAIT) == 16
    except BlockingIOError:
        return False
    except OSError:  # a file system that cannot say
        return True


def state():
    return {
        "cached": cached(),
        "heard": heard, "signals": signals,
        "memory": memory.value == b"memory-" + canary,
        "shared": ctypes.string_at(shared, 7 + len(canary)) ==
        b"shared-" + canary,
        "posix": open(posix, "rb").read() == b"posix-" + canary}


while True:
    ready = select.select([sys.stdin, *ears.values()], [], [])[0]
    for name, ear in ears.items():
        if ear in ready:
            heard[name] += 1
            if ear.type == socket.SOCK_STREAM:
                ear.accept()[0].close()
            else:
                ear.recv(65536)
    if sys.stdin in ready and ready == [sys.stdin]:
        if not sys.stdin.buffer.raw.read(1):
            break
        print(json.dumps(state()), flush=True)

libc.shmctl(segment, 0, None)
libc.semctl(semaphore, 0, 0)
libc.msgctl(queue, 0, None)
os.unlink(posix)
