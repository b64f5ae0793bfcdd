#!/usr/bin/env python3
"""capsid-server from outside: as a plain process and as process 1 of a pid
namespace, with clients that are honest, silent, gone, or greedy.

    run.py --build DIR
"""
import argparse
import ctypes
import fcntl
import json
import os
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PERL = os.path.join(ROOT, 'guest/perl/capsid-guest-perl')
passed, failed = 0, 0


def judge(ok, text):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print('%s %s' % ('ok  ' if ok else 'FAIL', text), flush=True)
    return ok


def until(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def line(**fields):
    return json.dumps(fields, separators=(',', ':')).encode() + b'\n'


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, build, *prefix, guests=True, **environment):
        self.port = free_port()
        command = [*prefix, os.path.join(build, 'bin/capsid-server'),
                   '--port', str(self.port)]
        if guests:
            command += ['--guest', 'perl=' + PERL]
        self.process = subprocess.Popen(
            command, env={**os.environ, **environment},
            stderr=subprocess.DEVNULL)
        self.up = until(self.ready, 60)

    def http(self, path):
        try:
            with socket.create_connection(('127.0.0.1', self.port), 5) as s:
                s.sendall(b'GET %s HTTP/1.1\r\nHost: x\r\n\r\n' %
                          path.encode())
                return read_all(s)
        except OSError:
            return b''

    def ready(self):
        return self.http('/ready').startswith(b'HTTP/1.1 200 ')

    def connect(self, *lines):
        s = socket.create_connection(('127.0.0.1', self.port), 20)
        s.sendall(b''.join(lines))
        return s

    def client(self, language, program, **hello):
        return self.connect(*request(language, program, **hello))

    def talk(self, language, program, **hello):
        with self.client(language, program, **hello) as s:
            return [json.loads(one) for one in
                    read_all(s).decode().splitlines()]

    def descendants(self):
        parents = {}
        for name in os.listdir('/proc'):
            if name.isdigit():
                try:
                    with open('/proc/%s/stat' % name) as file:
                        fields = file.read().rpartition(')')[2].split()
                    parents[int(name)] = (int(fields[1]), fields[0])
                except OSError:
                    pass
        found, added = {self.process.pid}, True
        while added:
            more = {p for p, (up, _) in parents.items() if up in found}
            added = not more <= found
            found |= more
        found.discard(self.process.pid)
        return {p: parents[p][1] for p in found if p in parents}

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def request(language, program, **hello):
    return (line(type='hello', language=language, **hello),
            line(type='boot', protocol=1, maxOutputBytes=67108864,
                 maxHeapMb=512),
            line(type='run', program=program, namespaces=[
                {'global': 'tools', 'functions': ['echo']}]))


def read_all(s):
    data = b''
    while True:
        try:
            more = s.recv(1 << 16)
        except ConnectionResetError:
            return data
        if not more:
            return data
        data += more


def last(messages):
    """(value or error of done, how it ended)"""
    done = [m for m in messages if m['type'] == 'done']
    ended = [m for m in messages if m['type'] == 'ended']
    return (done[-1].get('value', done[-1].get('error')) if done else None,
            (ended[-1]['how'], ended[-1]['number']) if ended else None)


# --- the tests ---

def programs(server):
    judge(server.http('/x').startswith(b'HTTP/1.1 404 '), 'others are 404')
    for language, program in (('typescript', 'return 1 + 2'),
                              ('javascript', 'return 1 + 2'),
                              ('python', 'return 1 + 2'),
                              ('perl', 'return 1 + 2')):
        got = server.talk(language, program)
        judge([m['type'] for m in got] ==
              ['welcome', 'boot-ack', 'done', 'ended'] and
              last(got) == (3, ('exit', 0)), '%s runs a program' % language)
    s = server.client('python', 'return await tools.echo({"a": 1})')
    reader = s.makefile('rb')
    kinds = [json.loads(reader.readline()) for _ in range(3)]
    judge(kinds[2]['type'] == 'call', 'a call comes to the client')
    s.sendall(line(type='reply', id=kinds[2]['id'], value=[7]))
    judge(json.loads(reader.readline()).get('value') == [7],
          'its reply goes to the program')
    s.close()
    got = server.talk('python', 'import os\nos._exit(9)')
    judge(last(got) == (None, ('exit', 9)), 'an exit is told in a last line')
    got = server.talk('python', 'import os\nos.abort()')
    judge(last(got) == (None, ('signal', 6)), 'a signal is told, too')
    got = server.talk('python', 'import os\nopen = []\nfor fd in range(64):\n'
                      '    try:\n        os.fstat(fd)\n'
                      '        open.append(fd)\n'
                      '    except OSError:\n        pass\nreturn open')
    judge(last(got)[0] is not None and set(last(got)[0]) <= {0, 1, 2, 3, 4, 5,
                                                              6},
          'a child has its own descriptors alone: %s' % last(got)[0])


def together(server):
    results = []

    def one(number):
        results.append(last(server.talk(
            'python', 'import asyncio\nawait asyncio.sleep(0.1)\n'
            'return %d' % number))[0] == number)
    threads = [threading.Thread(target=one, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    judge(len(results) == 16 and all(results), '16 clients at once')


def refusals(server):
    def refused(*lines):
        with server.connect(*lines) as s:
            return read_all(s).decode()
    judge('"refused","error":"no such language"' in
          refused(*request('cobol', 'x')), 'another language is refused')
    judge('no hello' in refused(b'{"type":"run"}\n'), 'no hello is refused')
    judge('no hello' in refused(b'\xff\x00\n'), 'junk is refused')
    judge('too long' in refused(b'{' + b'x' * 20000), 'a long line is')
    judge(refused(b'POST / HTTP/1.1\r\n\r\n').startswith('HTTP/1.1 404 '),
          'another request is 404')


def gone_clients(server):
    idle = until(lambda: len(server.descendants()) == IDLE[server], 10)
    judge(idle, 'no child is left of what has ended')
    for how in ('close', 'half-close', 'reset'):
        s = server.client('python', 'while True:\n    pass')
        judge(until(lambda: len(server.descendants()) > IDLE[server]),
              '%s: the child is there' % how)
        if how == 'half-close':
            s.shutdown(socket.SHUT_WR)
        elif how == 'reset':
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                         b'\1\0\0\0\0\0\0\0')
            s.close()
        else:
            s.close()
        judge(until(lambda: len(server.descendants()) == IDLE[server]),
              '%s: the child is gone' % how)
        s.close()


def greedy(server):
    """One that never reads, and one that never ends its line."""
    deaf = server.client('python', 'for i in range(10**7):\n'
                         '    print("x" * 1000)')
    mute = server.connect(b'{"type":"hel')
    writer = server.client('perl', 'sleep 100')
    writer.settimeout(0.5)
    try:
        while True:
            writer.send(b'y' * 65536)
    except (socket.timeout, ConnectionError):
        pass
    time.sleep(0.5)
    with open('/proc/%d/status' % server.process.pid) as file:
        resident = int(file.read().split('VmRSS:')[1].split()[0])
    judge(resident < 32768, 'it holds little of them: %d KiB' % resident)
    judge(last(server.talk('perl', 'return 5'))[0] == 5,
          'the next one is served beside them')
    for s in (deaf, mute, writer):
        s.close()


def computing(server):
    """A limit of CPU time, and a kill by name."""
    began = time.monotonic()
    got = server.talk('python', 'print("on")\nwhile True:\n    pass',
                      computeMs=300)
    judge(last(got) == (None, ('compute', 0)) and got[-2]['text'] == 'on\n',
          'computeMs ends what computes')
    judge(0.25 < time.monotonic() - began < 3, 'after that much CPU time')
    got = server.talk('python', 'import asyncio\nawait asyncio.sleep(0.7)\n'
                      'return 1', computeMs=300)
    judge(last(got)[0] == 1, 'waiting takes none of it')
    got = server.talk('python', 'import threading, time\n'
                      'def spin():\n    while True:\n        pass\n'
                      'threading.Thread(target=spin).start()\n'
                      'time.sleep(60)', computeMs=300)
    judge(last(got)[1] == ('compute', 0), 'a thread takes of it')
    judge('computeMs' in str(server.talk('python', '', computeMs='1')),
          'computeMs is a number')
    deaf = server.client('python', 'while True:\n    pass', run='r1')
    judge(until(lambda: len(server.descendants()) > IDLE[server]),
          'a run with a name is there')
    for name, left in (('r2', 1), ('r1', 0)):
        with server.connect(line(type='kill', run=name)) as s:
            judge(b'"killed"' in read_all(s), 'a kill is answered')
        time.sleep(0.2)
        judge(len(server.descendants()) == IDLE[server] + left,
              'kill of %s leaves %d' % (name, left))
    deaf.close()
    with server.connect(line(type='kill')) as s:
        judge(b'refused' in read_all(s), 'a kill of nothing is refused')


def closed_port(server):
    got = server.talk('python', 'import os, time\n'
                      'os.close(3)\ntime.sleep(60)')
    judge(last(got) == (None, ('signal', 9)) and
          got[-1]['text'] == 'the guest closed its port and went on',
          'a child that closes its port does not go on')


def dead_zygote(server):
    s = server.client('python', 'while True:\n    pass')
    s.recv(1)  # of its welcome: it has a child
    children = []
    for pid in server.descendants():
        with open('/proc/%d/cmdline' % pid) as file, \
                open('/proc/%d/status' % pid) as status:
            if 'python' in file.read().split('\0') and \
                    'PPid:\t%d\n' % server.process.pid in status.read():
                children.append(pid)
    judge(len(children) == 1, 'there is one keeper of Python')
    os.kill(children[0], signal.SIGKILL)
    judge('ended' not in read_all(s).decode(), 'its client is let go')
    s.close()
    judge(until(lambda: not server.ready(), 3), 'it is not ready then')
    judge(until(server.ready, 30), 'and is again')
    judge(last(server.talk('python', 'return 6'))[0] == 6,
          'another zygote serves')
    judge(until(lambda: 'Z' not in server.descendants().values()),
          'no zombie is left')


def termination(server):
    s = server.client('python', 'while True:\n    pass')
    until(lambda: len(server.descendants()) > IDLE[server])
    pids = server.descendants()
    began = time.monotonic()
    server.process.terminate()
    status = server.process.wait(5)
    judge(status == 0 and time.monotonic() - began < 1,
          'SIGTERM ends it at once (%d ms)' %
          ((time.monotonic() - began) * 1000))
    judge(until(lambda: not any(os.path.exists('/proc/%d' % p)
                                for p in pids), 5),
          'and all that it started: %d' % len(pids))
    s.close()


def limits(build):
    server = Server(build, guests=False, CAPSID_CONNECTIONS='4',
                    CAPSID_TOKEN='sesame', CAPSID_WALL_MS='1500')
    try:
        judge(server.up, 'with a token it is ready, and says so to all')
        judge('token' in str(server.talk('python', 'return 1')),
              'no token is refused')
        judge('token' in str(server.talk('python', 'return 1',
                                         token='sesamf')),
              'a wrong token is refused')
        judge('token' in str(server.talk('python', 'return 1',
                                         token='sesames')),
              'a longer one, too')
        judge(last(server.talk('python', 'return 1', token='sesame'))[0] == 1,
              'the right one is not')
        with server.connect(line(type='kill', run='x')) as s:
            judge(b'token' in read_all(s), 'a kill wants it as well')
        sleep = 'import asyncio\nawait asyncio.sleep(60)'
        held = [server.client('python', sleep, token='sesame', run='r%d' % i)
                for i in range(4)]
        time.sleep(0.5)
        judge('too many connections' in
              str(server.talk('python', 'return 1', token='sesame')),
              'the fifth of four is refused')
        judge(server.ready(), 'but whether it is ready is still told')
        with server.connect(line(type='kill', run='r0', token='sesame')) as s:
            judge(b'killed' in read_all(s), 'and a run is still ended')
        judge(last(server.talk('python', 'return 1', token='sesame'))[0] == 1,
              'which makes room')
        for s in held:
            s.close()
        began = time.monotonic()
        got = server.talk('python', 'while True:\n    pass', token='sesame')
        judge('wall-clock' in str(got) and time.monotonic() - began < 6,
              'the wall-clock ceiling ends a run')
    finally:
        server.end()


def heavy(build):
    """Memory that no rlimit counts, and that one which leaves room does."""
    private = ("my @x;\npush @x, 'x' x (8 << 20) for 1..60;\n"
               'select(undef, undef, undef, 0.2);\nreturn scalar(@x);')
    shared = ('my $at = syscall(9, 0, 1 << 28, 3, 0x21, -1, 0);\n'
              'return $at == -1 ? "none" : "some";')
    tables = ('import ctypes, time\nlibc = ctypes.CDLL(None)\n'
              'libc.mmap.restype = ctypes.c_void_p\n'
              'for i in range(30000):\n'
              '    at = libc.mmap(ctypes.c_void_p((1 << 44) + (i << 30)),\n'
              '                   ctypes.c_size_t(4096), 1, 0x100022, -1, 0)\n'
              '    ctypes.c_char.from_address(at).value\n'
              'time.sleep(0.2)\nreturn 1')
    for heap, right in ('1024', True), ('64', False):
        server = Server(build, CAPSID_HEAP_MB=heap)
        try:
            for language, program, value in (
                    ('perl', private, 60), ('python', tables, 1)):
                got = server.talk(language, program)
                if right:
                    judge(last(got)[0] == value,
                          '%s: heap %s is enough' % (language, heap))
                    continue
                judge(last(got) == (None, ('signal', 9)) and got[-1]['text'] ==
                      'out of memory: heap limit 64 MiB',
                      '%s: heap %s is kept: %s' % (language, heap, got[-1]))
            judge(last(server.talk('perl', shared))[0] == 'none',
                  'there is no shared memory')
        finally:
            server.end()


def zygote(server, language):
    """What makes the children of that language: the process 1 of them."""
    for pid in sorted(server.descendants()):
        with open('/proc/%d/cmdline' % pid) as file, \
                open('/proc/%d/comm' % pid) as comm:
            if language in file.read().split('\0') and \
                    comm.read() == 'capsid-zygote\n':
                return pid
    return None


def crowd(build):
    """More clients than it has places for, and orders for children."""
    server = Server(build, guests=False, CAPSID_CONNECTIONS='500')
    try:
        busy = zygote(server, 'javascript')
        if not judge(busy, 'there is a zygote of JavaScript'):
            return
        os.kill(busy, signal.SIGSTOP)
        clients = [server.client('javascript', 'return %d' % n)
                   for n in range(400)]
        time.sleep(0.5)
        os.kill(busy, signal.SIGCONT)
        right = 0
        for n, s in enumerate(clients):
            text = read_all(s).decode()
            right += last([json.loads(one) for one in text.splitlines()]
                          )[0] == n
            s.close()
        judge(right == 400, 'orders wait for a zygote that is busy: %d' % right)
        idle = until(lambda: 'Z' not in server.descendants().values())
        judge(idle, 'and those to let go of its children, too')
    finally:
        server.end()
    server = Server(build, guests=False, CAPSID_CONNECTIONS='4')
    try:
        held = [server.connect() for _ in range(120)]
        time.sleep(0.3)
        files = len(os.listdir('/proc/%d/fd' % server.process.pid))
        judge(files < 40 + 120, 'a stranger is one descriptor: %d' % files)
        for s in held:
            s.close()
        judge(until(server.ready), 'and serves when they are gone')
    finally:
        server.end()


def timed(action, *arguments, **more):
    began = time.monotonic()
    return action(*arguments, **more), (time.monotonic() - began) * 1000


def from_elsewhere(server, data=b''):
    """A connection from another address of this machine."""
    s = socket.socket()
    s.settimeout(20)
    s.bind(('127.0.0.2', 0))
    s.connect(('127.0.0.1', server.port))
    s.sendall(data)
    return s


def asks(server, tries, what):
    """/ready at once, and a run of somebody who may within its usual time."""
    worst = 0
    for _ in range(tries):
        ready, took = timed(server.ready)
        worst = max(worst, took if ready else 20000)
    judge(worst < 100, '%s: /ready within %d ms' % (what, worst))
    got, took = timed(server.talk, 'python', 'return 1', token='sesame')
    judge(last(got)[0] == 1 and took < server.usual * 3 + 100,
          '%s: a run in %d ms, alone %d ms' % (what, took, server.usual))


def resident(server):
    with open('/proc/%d/status' % server.process.pid) as file:
        return int(file.read().split('VmRSS:')[1].split()[0])


def drip(sockets, ending):
    """One byte a second, of a hello that never ends."""
    while not ending.wait(1):
        for s in sockets:
            try:
                s.send(b'{')
            except OSError:
                pass


def crowds(server, name, count, make):
    held = []
    for _ in range(count):
        try:
            held.append(make())
        except OSError:
            pass  # let go of already
    asks(server, 20, '%d that %s' % (count, name))
    judge(resident(server) < 16384, '%s: %d KiB' % (name, resident(server)))
    for s in held:
        s.close()


def strangers(build):
    """Those who are not let in keep nobody out."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
    server = Server(build, guests=False, CAPSID_TOKEN='sesame',
                    CAPSID_CONNECTIONS='8')
    try:
        server.usual = min(timed(server.talk, 'python', 'return 1',
                                 token='sesame')[1] for _ in range(5))
        run = server.client('python', 'return await tools.echo(1)',
                            token='sesame')
        reader = run.makefile('rb')
        call = [json.loads(reader.readline()) for _ in range(3)][2]
        wrong = line(type='hello', language='python', token='wrong')
        for name, count, data in (
                ('are silent', 200, b''), ('are silent', 2000, b''),
                ('end no line', 600, b'{"type":"hel'),
                ('send junk behind a wrong token', 600,
                 wrong + b'x' * 100000),
                ('never read why they are refused', 600, wrong),
                ('send a long head', 600, b'GET /' + b'x' * 100000),
                ('ask for ever', 600, b'GET /ready HTTP/1.1\r\n\r\n' * 1000)):
            crowds(server, name, count,
                   lambda data=data: server.connect(data))

        def half():
            s = server.connect()
            s.shutdown(socket.SHUT_WR)
            return s
        crowds(server, 'are half closed', 600, half)
        slow = [server.connect() for _ in range(200)]
        ending = threading.Event()
        thread = threading.Thread(target=drip, args=(slow, ending))
        thread.start()
        time.sleep(1.5)
        asks(server, 20, '200 that send a byte a second')
        first = slow[-1]
        first.settimeout(15)
        _, took = timed(read_all, first)
        judge(5000 < took < 12000, 'which have 10 s for all of a line: %d ms' %
              took)
        ending.set()
        thread.join()
        for s in slow:
            s.close()
        # who takes his time is not in the place of who has many
        late = server.connect(b'{"type":"hello",')
        time.sleep(0.1)
        many = [from_elsewhere(server) for _ in range(2000)]
        late.sendall(b'"language":"python","token":"sesame"}\n')
        late.settimeout(5)
        try:
            welcome = late.recv(100)
        except OSError:
            welcome = b''
        judge(b'welcome' in welcome,
              'of many from one address none is in another\'s place')
        late.close()
        for s in many:
            s.close()
        with server.connect(b'GET /ready HTTP/1.1\r\n\r\n') as s:
            s.shutdown(socket.SHUT_WR)
            judge(b' 200 ' in read_all(s), 'who asks and is half closed is '
                  'answered')
        run.sendall(line(type='reply', id=call['id'], value=7))
        judge(json.loads(reader.readline()).get('value') == 7,
              'a run went on beside all of them')
        run.close()
    finally:
        server.end()


def own_network():
    """In a network of its own, whose buffers have one size: False without the
    right to have one."""
    if ctypes.CDLL(None).unshare(0x40000000) != 0:
        return False
    with socket.socket() as s:
        # SIOCSIFFLAGS: lo is up and running
        fcntl.ioctl(s, 0x8914, struct.pack('16sH14x', b'lo', 1 | 64))
    for name, size in ('wmem', 262144), ('rmem', 65536):
        with open('/proc/sys/net/ipv4/tcp_' + name, 'w') as file:
            file.write('%d %d %d' % (size, size, size))
    return True


def slow(build):
    """Clients that begin to read when their child is gone: whatever is left
    in which buffer, the last line comes."""
    pid = os.fork()
    if pid != 0:
        judge(os.waitpid(pid, 0)[1] == 0, 'a slow client gets its last line')
        return
    if not own_network():
        print('SKIPPED slow clients: no network of their own')
        os._exit(0)
    server = Server(build, guests=False, CAPSID_CONNECTIONS='200')
    missed = 0
    try:
        clients = [server.client('javascript',
                                 'console.log("x".repeat(%d))' % size)
                   for size in range(400000, 466000, 400)]
        time.sleep(0.5)
        for s in clients:
            s.settimeout(5)
            missed += b'"ended"' not in read_all(s)
            s.close()
    except OSError:
        missed += 1
    server.end()
    os._exit(missed != 0)


def refuses_to_start(build, text, *prefix, where=None, **environment):
    try:
        done = subprocess.run(
            [*prefix, os.path.join(where or os.path.join(build, 'bin'),
                                   'capsid-server'),
             '--port', str(free_port())], env={**os.environ, **environment},
            stderr=subprocess.PIPE, timeout=5)
        said = done.stderr.decode()
    except subprocess.TimeoutExpired:
        said = 'it started'
    judge(text in said, 'it does not start without what it needs: ' + text)


def starts(build):
    refuses_to_start(build, 'CAPSID_TOKEN must be 1 to', CAPSID_TOKEN='')
    refuses_to_start(build, 'CAPSID_TOKEN must be 1 to', CAPSID_TOKEN='a"b')
    refuses_to_start(build, 'wants 576 descriptors, and 200 are allowed',
                     'prlimit', '--nofile=200:200')
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(os.path.join(build, 'bin/capsid-server'), folder)
        refuses_to_start(build, 'capsid-guest must be beside', where=folder)


IDLE = {}


def whole(build, *prefix):
    server = Server(build, *prefix)
    try:
        if not judge(server.up, '/ready is 200 when every zygote is'):
            return
        IDLE[server] = len(server.descendants())
        if prefix:
            # what was executed waits outside of the namespace
            inner = min(server.descendants())
            with open('/proc/%d/status' % inner) as file:
                judge('NSpid:\t%d\t1\n' % inner in file.read(),
                      'it is process 1')
            judge(last(server.talk('python', 'return 1 + 2'))[0] == 3,
                  'it runs a program')
            for p in server.descendants():
                with open('/proc/%d/cmdline' % p) as file:
                    if 'zygote' in file.read():
                        os.kill(p, signal.SIGKILL)
                        break
            judge(until(server.ready, 30), 'it is ready after a kill')
            judge(until(lambda: 'Z' not in server.descendants().values()),
                  'process 1 reaps whoever is left to it')
            os.kill(inner, signal.SIGTERM)
            judge(server.process.wait(5) == 0, 'SIGTERM ends process 1')
            return
        programs(server)
        together(server)
        refusals(server)
        gone_clients(server)
        greedy(server)
        computing(server)
        closed_port(server)
        dead_zygote(server)
        termination(server)
    finally:
        server.end()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--build', required=True)
    parser.add_argument('--only', help='one part, which takes a build')
    options = parser.parse_args()
    if options.only:
        globals()[options.only](options.build)
        return failed != 0
    whole(options.build)
    whole(options.build, 'unshare', '--pid', '--fork', '--mount-proc')
    limits(options.build)
    heavy(options.build)
    crowd(options.build)
    strangers(options.build)
    starts(options.build)
    slow(options.build)
    print('%d passed, %d failed' % (passed, failed))
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
