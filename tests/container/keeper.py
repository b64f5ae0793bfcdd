#!/usr/bin/env python3
"""The keeper of containers by itself, this being its host (src/port/control.h).

    keeper.py CAPSID-OCI [OPTION VALUE]...

It lets the keeper find its runtime, waits a second, asks for a container and
prints what it is told, a word a packet; last whether the keeper is still there
and how many zombies nobody knows of it has.
"""
import os
import socket
import struct
import subprocess
import sys
import time

WHAT = {1: 'ready', 2: 'failed', 3: 'child', 4: 'no-child', 5: 'dead',
        6: 'sync'}
FORK = 1


def told(control, seconds):
    control.settimeout(seconds)
    try:
        data, _, _, _ = control.recvmsg(4096, 256)
    except socket.timeout:
        return None
    return WHAT[struct.unpack_from('I', data)[0]] if data else 'gone'


def zombies(parent):
    found = 0
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/stat' % name) as file:
                fields = file.read().rpartition(')')[2].split()
            found += fields[0] == 'Z' and int(fields[1]) == parent
        except OSError:
            pass
    return found


def main():
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    keeper = subprocess.Popen(
        ['sh', '-c', 'exec "$@" 3<&%d' % its.fileno(), 'sh', sys.argv[1],
         '--nursery', *sys.argv[2:]], pass_fds=[its.fileno()])
    its.close()
    heard = [told(ours, 30)]
    time.sleep(1)
    if heard == ['ready']:
        ours.send(struct.pack('II', FORK, 1))
        heard.append(told(ours, 30))
    time.sleep(0.3)
    print(*heard, 'up' if keeper.poll() is None else 'gone',
          zombies(keeper.pid))
    ours.close()
    keeper.wait()


if __name__ == '__main__':
    sys.exit(main())
