#!/usr/bin/env python3
"""The isolation `worker` and the Workers that it should not trust: a bridge
that is led elsewhere, lied to, or flooded, and what it can reach by then.

    run.py --build DIR
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import peer
from peer import Peer, frame, honest, text

TOKEN = 'sesame-4711'
passed, failed = 0, 0
capsid = None
folder = None


def judge(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print('%s %s' % ('ok  ' if ok else 'FAIL', what), flush=True)
    return ok


def until(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def start(url, *options, program='return 3', **environment):
    environment.setdefault('SSL_CERT_FILE', os.path.join(folder, 'ca.pem'))
    environment.setdefault('SSL_CERT_DIR', '')
    process = subprocess.Popen(
        [capsid, 'run', '--isolation', 'worker', '--language', 'javascript',
         '--json', '--worker-url', url, *options, '-'],
        env={**os.environ, 'CAPSID_WORKER_TOKEN': TOKEN, **environment},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(program.encode())
    process.stdin.close()
    process.stdin = None
    return process


def ended(process, seconds=60):
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += b' (it did not end)'
    return out.decode(errors='replace') + err.decode(errors='replace')


def run(url, *options, **more):
    """All that the command writes."""
    said = ended(start(url, *options, **more))
    judge(TOKEN not in said, 'the token is in no message')
    return said


def below(pid):
    """The bridges of a command, and their zygote: {pid: status}."""
    parents, found = {}, {pid}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open('/proc/%s/status' % name) as file:
                    parents[int(name)] = dict(
                        line.rstrip('\n').split(':\t', 1) for line in file
                        if ':\t' in line)
            except OSError:
                pass
    for _ in range(4):
        found |= {p for p, s in parents.items() if int(s['PPid']) in found}
    found.discard(pid)
    return {p: parents[p] for p in found}


def at_second(first, second):
    """A behaviour for the connection that looks whether there is a Worker, and
    one for those of runs."""
    count = [0]

    def behave(connection):
        count[0] += 1
        (first if count[0] == 1 else second)(connection)
    return behave


def tls(name='right'):
    return os.path.join(folder, name)


# --- led elsewhere ---

def works():
    for kind in (None, tls()):
        worker = Peer(honest, kind)
        said = run(worker.url)
        judge('"value":3' in said, '%s: a run works: %s' % (worker.url[:3],
                                                           said.strip()))
        judge(worker.leaked(b'Bearer ' + TOKEN.encode()),
              'and the Worker is given the token')
        worker.close()
    worker = Peer(honest, tls())
    said = run(worker.url, SSL_CERT_FILE='/nowhere',
               SSL_CERT_DIR=os.path.join(folder, 'authorities'))
    judge('"value":3' in said, 'an authority may be in a folder: ' +
          said.strip())
    worker.close()


def redirect(status, url):
    def behave(connection):
        connection.send(
            b'HTTP/1.1 %d Elsewhere\r\nLocation: %s\r\nContent-Length: 0\r\n'
            b'\r\n' % (status, url.encode()))
        time.sleep(0.2)
    return behave


def redirects():
    for first, second in ((None, None), (tls(), tls()), (tls(), None)):
        for status in (301, 302, 303, 307, 308):
            thief = Peer(honest, second)
            lure = Peer(redirect(status, thief.url), first)
            said = run(lure.url)
            time.sleep(0.1)
            judge(thief.accepted == 0,
                  '%s, status %d to %s: nobody comes there' %
                  (lure.url.split(':')[0], status, thief.url.split(':')[0]))
            judge('status %d, and redirects are refused' % status in said,
                  'and it is said: ' + said.strip()[:160])
            lure.close()
            thief.close()
    # the control of the above: that one would have come
    thief = Peer(honest)
    judge('"value":3' in run(thief.url) and thief.leaked(TOKEN.encode()),
          'who is the address itself is given the token')
    thief.close()
    # behind the first connection, in a run
    thief = Peer(honest)
    lure = Peer(at_second(honest, redirect(302, thief.url)))
    said = run(lure.url)
    judge(thief.accepted == 0 and 'redirects are refused' in said,
          'a redirect of a run: ' + said.strip()[:160])
    lure.close()
    thief.close()


def proxies():
    worker, proxy = Peer(honest), Peer(honest)
    where = '127.0.0.1:%d' % proxy.port
    for name in ('http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY',
                 'all_proxy', 'ALL_PROXY', 'socks_proxy', 'SOCKS_PROXY'):
        said = run(worker.url, **{name: where})
        judge('"value":3' in said and proxy.accepted == 0,
              '%s is not followed' % name)
    proxy.close()
    worker.close()


def statuses():
    for head, why in (
            (b'401 No\r\nWWW-Authenticate: Basic realm="x"', 'status 401'),
            (b'407 No\r\nProxy-Authenticate: Basic realm="x"', 'status 407'),
            (b'200 Yes\r\nAlt-Svc: h2="127.0.0.1:%d"', 'status 200'),
            (b'300 Many\r\nLocation: http://127.0.0.1:%d/', 'status 300'),
            (b'305 Proxy\r\nLocation: http://127.0.0.1:%d/', 'status 305'),
            (b'503 Later\r\nRetry-After: 0', 'status 503')):
        other = Peer(honest)
        if b'%d' in head:
            head %= other.port

        def behave(connection, head=head):
            connection.send(b'HTTP/1.1 ' + head +
                            b'\r\nContent-Length: 0\r\n\r\n')
            time.sleep(0.2)
        worker = Peer(behave)
        said = run(worker.url)
        judge(why in said and worker.accepted == 1 and other.accepted == 0,
              '%s, once: %s' % (why, said.strip()[:120]))
        worker.close()
        other.close()
    worker = Peer(lambda c: (c.upgrade(b'Set-Cookie: a=b'),
                             c.send(text(peer.HELLO)),
                             c.until(b'"run"') and c.send(
                                 text(peer.ACK) +
                                 text(b'{"type":"done","value":3}\n'))))
    judge('"value":3' in run(worker.url), 'a cookie does no harm')
    judge(worker.accepted > 1 and
          not any(b'cookie' in head.lower() for head in worker.heads),
          'and is not given back')
    worker.close()


def lies():
    worker = Peer(lambda c: c.upgrade(accept=b'AAAAAAAAAAAAAAAAAAAAAAAAAAA='))
    said = run(worker.url)
    judge('no connection to the worker' in said,
          'a wrong Sec-WebSocket-Accept: ' + said.strip()[:120])
    worker.close()
    for name, kind in (('wrong', 'another name'),
                       ('unknown', 'an unknown authority')):
        worker = Peer(honest, tls(name))
        said = run(worker.url)
        judge('no connection to the worker' in said and not worker.heads,
              'a certificate of %s: %s' % (kind, said.strip()[:140]))
        worker.close()
    worker = Peer(honest, tls('unknown'))
    said = run(worker.url, SSL_CERT_FILE=tls('unknown') + '.pem')
    judge('"value":3' in said, 'which is believed if it is the authority')
    worker.close()
    worker = Peer(honest)
    said = run(worker.url.replace('ws:', 'wss:'))
    judge('no connection to the worker' in said and
          not worker.leaked(TOKEN.encode()),
          'wss is not tried without TLS: ' + said.strip()[:120])
    worker.close()


def addresses():
    for url in ('ws://user:secret-9@127.0.0.1:1/run',
                'ws://127.0.0.1:1/a b\r\nX: secret-9',
                'https://user:secret-9@127.0.0.1:1/run'):
        said = run(url)
        judge('worker_url' in said and 'secret-9' not in said,
              'refused, without its secret: ' + said.strip()[:140])
    said = run('ws://127.0.0.1:1/run', CAPSID_WORKER_TOKEN=TOKEN + '\r\nX: y')
    judge('worker_token' in said, 'a token is one word: ' + said.strip()[:140])


# --- flooded ---

class Watch:
    """Of a command's bridges: the most memory and CPU time that one had."""

    def __init__(self, process):
        self.process, self.memory, self.cpu = process, 0, 0
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        tick = os.sysconf('SC_CLK_TCK')
        while self.process.poll() is None:
            for pid, status in below(self.process.pid).items():
                try:
                    with open('/proc/%d/stat' % pid) as file:
                        fields = file.read().rpartition(')')[2].split()
                    self.memory = max(self.memory, int(
                        status.get('VmHWM', '0 kB').split()[0]) // 1024)
                    self.cpu = max(self.cpu, (int(fields[11]) +
                                              int(fields[12])) / tick)
                except (OSError, IndexError):
                    pass
            time.sleep(0.05)


def flooded(what, behave, kind=None, expect='worker-exit', seconds=30):
    """A Worker that lets itself be looked at, and then does that."""
    worker = Peer(at_second(honest, behave), kind)
    began = time.monotonic()
    process = start(worker.url, '--wall-ms', '40000')
    watch = Watch(process)
    said = ended(process, 90)
    took = time.monotonic() - began
    judge(expect in said and took < seconds and watch.memory < 96 and
          watch.cpu < 3,
          '%s: %.1f s, %d MiB, %.1f s of CPU: %s' %
          (what, took, watch.memory, watch.cpu, said.strip()[:140]))
    worker.close()


def after_hello(data):
    def behave(connection):
        connection.upgrade()
        connection.send(text(peer.HELLO))
        connection.flood(data)
    return behave


def floods():
    head = b'HTTP/1.1 101 Switching Protocols\r\n'
    for kind in (None, tls()):
        name = 'wss' if kind else 'ws'
        flooded(name + ': a header of 64 MiB', lambda c: (
            c.send(head + b'X-Long: '), c.send(b'x' * (64 << 20))), kind)
        flooded(name + ': a header without end', lambda c: (
            c.send(head + b'X-Long: '), c.flood(b'x' * 65536)), kind)
        flooded(name + ': headers without end', lambda c: (
            c.send(head), c.flood(b'X-More: 1\r\n' * 4096)), kind)
        flooded(name + ': a known header without end', lambda c: (
            c.send(head), c.flood(b'Set-Cookie: a=1\r\n' * 4096)), kind)
        flooded(name + ': spaces without end', lambda c: (
            c.send(head + b'Upgrade:'), c.flood(b' ' * 65536)), kind)
        flooded(name + ': statuses of 100 without end', lambda c: c.flood(
            b'HTTP/1.1 100 Continue\r\n\r\n' * 1024), kind)
        flooded(name + ': pings', after_hello(frame(9, b'x' * 125) * 512),
                kind)
        if kind:
            continue
        flooded(name + ': pongs', after_hello(frame(10, b'') * 16384))
        flooded(name + ': binary frames', after_hello(
            frame(2, b'x' * 65000)))
        flooded(name + ': empty messages', after_hello(
            frame(1, b'') * 16384))
        flooded(name + ': empty fragments', lambda c: (
            c.upgrade(), c.send(text(peer.HELLO) + frame(1, b'', fin=False)),
            c.flood(frame(0, b'', fin=False) * 16384)))
        flooded(name + ': a frame of 2^62 bytes', lambda c: (
            c.upgrade(), c.send(text(peer.HELLO) + b'\x82\x7f' +
                                (1 << 62).to_bytes(8, 'big')),
            c.flood(b'x' * 65536)))
    flooded('a compressed message that nobody wanted', lambda c: (
        c.upgrade(), c.send(text(peer.HELLO)),
        c.send(frame(1, b'\xaa\xae\x04\0' * 100, rsv=4)), time.sleep(2)))
    flooded('compression that nobody wanted', lambda c: (
        c.upgrade(b'Sec-WebSocket-Extensions: permessage-deflate'),
        c.send(text(peer.HELLO)), c.send(frame(1, b'\xaa\xae\x04\0' * 100,
                                               rsv=4)), time.sleep(2)))
    def logs(connection):
        connection.upgrade()
        connection.send(text(peer.HELLO) + text(peer.ACK))
        connection.flood(text(b'{"type":"log","text":"%s"}\n' %
                              (b'x' * 65000)))
    flooded('logs without end', logs, expect='output-limit')
    flooded('a hello without end', lambda c: (
        c.upgrade(), c.flood(frame(1, b'{' * 65000))),
            expect='does not speak protocol 1')
    worker = Peer(honest)
    run(worker.url)
    judge(not any(b'sec-websocket-extensions' in head.lower()
                  for head in worker.heads), 'no compression is offered')
    worker.close()


# --- shut in ---

def held(connection):
    connection.upgrade()
    connection.send(text(peer.HELLO))
    if connection.until(b'"run"'):
        connection.send(text(peer.ACK))
        connection.until(b'never')


def sockets(pid):
    """Descriptors that are TCP connections."""
    count = 0
    for fd in os.listdir('/proc/%d/fd' % pid):
        try:
            inode = os.readlink('/proc/%d/fd/%s' % (pid, fd))
        except OSError:
            continue
        for table in ('tcp', 'tcp6'):
            with open('/proc/%d/net/%s' % (pid, table)) as file:
                count += any(line.split()[9] == inode[8:-1]
                             for line in file.readlines()[1:]
                             if inode.startswith('socket:'))
    return count


def shut_in():
    for kind in (None, tls()):
        worker = Peer(held, kind)
        process = start(worker.url, '--wall-ms', '20000')

        def connected():
            return [pid for pid in below(process.pid) if sockets(pid)]
        judge(until(lambda: len(worker.heads) == 2 and connected(), 20),
              '%s: there is a bridge with a connection' % worker.url[:3])
        others = [status for pid, status in below(process.pid).items()
                  if pid not in connected() and status['Seccomp'] == '2' and
                  status['Name'] != 'capsid-keeper']
        judge(not others, 'its zygote and those that wait have no filter: '
              'so a filter is what it put on itself')
        for pid in connected():
            status = below(process.pid)[pid]
            judge(status['Seccomp'] == '2' and status['NoNewPrivs'] == '1' and
                  int(status['CapEff'], 16) == 0 and
                  int(status['CapBnd'], 16) == 0,
                  'it has a filter, and no privilege')
            judge(status['Uid'].split()[0] != '0' or os.geteuid() != 0,
                  'it is nobody: %s' % status['Uid'].split()[0])
            with open('/proc/%d/limits' % pid) as file:
                limits = {line[:26].strip(): line[26:].split()[0]
                          for line in file}
            judge(int(limits['Max data size']) < 256 << 20,
                  'its memory is bounded: %s' % limits['Max data size'])
        process.send_signal(signal.SIGTERM)
        ended(process)
        worker.close()


def main():
    global capsid, folder
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--build', required=True)
    parser.add_argument('--only')
    options = parser.parse_args()
    capsid = os.path.join(options.build, 'bin/capsid')
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        peer.certificates(folder)
        for part in (works, redirects, proxies, statuses, lies, addresses,
                     shut_in, floods):
            if options.only in (None, part.__name__):
                part()
    print('%d passed, %d failed' % (passed, failed))
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
