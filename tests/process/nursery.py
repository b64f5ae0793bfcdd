#!/usr/bin/python3
"""A nursery (src/port/control.h) that does what the file of its --path says:
each start takes a letter off the front of it.

    g  it is ready, and good: a child answers 1 to whatever it is asked
    o  the same, but it ends when a child of it has been let go of
    c  it is good, but takes its host's cgroup away, and counts its children
       in that file
    d  it is ready, and ends a moment later without a child
    f  it says that it will never be ready, and takes a moment to end

Where there is none left it ends at once.
"""
import os
import re
import select
import socket
import struct
import sys
import time

FORK, REAP, SYNC = 1, 2, 3
READY, FAILED, CHILD, DEAD, SAID_SYNC = 1, 2, 3, 5, 6
host = socket.socket(fileno=3)
children = {}


def say(what, slot=0, code=0, status=0, text=b'', fds=()):
    socket.send_fds(host, [struct.pack('iIiiii496s', what, slot, code, status,
                                       0, 0, text)], fds)


def make_child(slot):
    port, its = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        port.close()
        host.close()
        its.sendall(b'{"type":"boot-ack","protocol":1,'
                    b'"language":"javascript"}\n')
        if its.recv(1):
            its.sendall(b'{"type":"done","value":1}\n')
        os._exit(0)
    fd = os.pidfd_open(pid)
    children[fd] = slot
    say(CHILD, slot, fds=[port.fileno(), fd])
    port.close()
    its.close()


def take_cgroup_away():
    for root, folders, _ in os.walk('/sys/fs/cgroup'):
        for folder in folders:
            if re.match(r'capsid-\d+-%d-' % os.getppid(), folder):
                os.rmdir(os.path.join(root, folder))


def serve(what, path):
    slot = 0
    if what == 'c':
        take_cgroup_away()
    while True:
        for fd in select.select([host, *children], [], [])[0]:
            if fd is not host:
                ended = os.waitid(os.P_PIDFD, fd, os.WEXITED)
                say(DEAD, children.pop(fd), ended.si_code, ended.si_status)
                os.close(fd)
                continue
            order = host.recv(8)
            if not order:
                return
            verb, value = struct.unpack('II', order)
            if verb == REAP and what == 'o':
                return
            if verb == SYNC:
                say(SAID_SYNC)
            for _ in range(value if verb == FORK else 0):
                make_child(slot)
                if what == 'c':
                    with open(path, 'a') as file:
                        file.write('+')
                slot += 1


def main():
    path = sys.argv[sys.argv.index('--path') + 1]
    with open(path) as file:
        letters = file.read()
    with open(path, 'w') as file:
        file.write(letters[1:])
    what = letters[:1]
    if what == 'f':
        say(FAILED, code=-3, text=b'no luck')
        time.sleep(0.3)
    elif what:
        say(READY)
        if what == 'd':
            time.sleep(0.02)
        else:
            serve(what, path)


if __name__ == '__main__':
    main()
