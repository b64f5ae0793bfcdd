"""A Worker for the tests of the isolation `worker`: it does what a test wants
on each connection, with or without TLS. Certificates are made by openssl.
"""
import base64
import hashlib
import os
import socket
import ssl
import subprocess
import threading

HELLO = b'{"type":"hello","protocol":1,"languages":["javascript","typescript"]}\n'
ACK = b'{"type":"boot-ack","protocol":1,"language":"javascript"}\n'
GUID = b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11'


def certificates(folder):
    """An authority, and the key and certificate of 127.0.0.1 and of another
    name, by it; and one that nobody signed."""
    def openssl(*arguments):
        subprocess.run(['openssl', *arguments], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    curve = ('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes')
    openssl('req', '-x509', *curve, '-subj', '/CN=test authority',
            '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2')
    for name, alt in (('right', 'IP:127.0.0.1'), ('wrong', 'DNS:other.test')):
        with open(os.path.join(folder, name + '.ext'), 'w') as file:
            file.write('subjectAltName=%s\n' % alt)
        openssl('req', *curve, '-subj', '/CN=' + name, '-keyout',
                name + '.key', '-out', name + '.csr')
        openssl('x509', '-req', '-in', name + '.csr', '-CA', 'ca.pem',
                '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2',
                '-extfile', name + '.ext', '-out', name + '.pem')
    openssl('req', '-x509', *curve, '-subj', '/CN=127.0.0.1', '-addext',
            'subjectAltName=IP:127.0.0.1', '-keyout', 'unknown.key', '-out',
            'unknown.pem', '-days', '2')
    folders = os.path.join(folder, 'authorities')
    os.mkdir(folders)
    hashed = subprocess.run(
        ['openssl', 'x509', '-in', 'ca.pem', '-noout', '-hash'], cwd=folder,
        check=True, stdout=subprocess.PIPE).stdout.decode().strip()
    with open(os.path.join(folder, 'ca.pem')) as file:
        text = file.read()
    with open(os.path.join(folders, hashed + '.0'), 'w') as file:
        file.write(text)


def frame(opcode, data, fin=True, rsv=0):
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    if len(data) < 126:
        head += bytes([len(data)])
    elif len(data) < 65536:
        head += bytes([126]) + len(data).to_bytes(2, 'big')
    else:
        head += bytes([127]) + len(data).to_bytes(8, 'big')
    return head + data


def text(data):
    return frame(1, data)


class Peer:
    """`behave(connection)` is called for each connection, in a thread."""

    def __init__(self, behave, tls=None):
        self.behave, self.tls = behave, tls
        self.heads = []       # what each connection began with
        self.accepted = 0     # connections, of TCP
        self.socket = socket.create_server(('127.0.0.1', 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        self.url = '%s://127.0.0.1:%d/run' % ('wss' if tls else 'ws', self.port)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                s, _ = self.socket.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self.one, args=(s,), daemon=True).start()

    def one(self, s):
        try:
            if self.tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(self.tls + '.pem', self.tls + '.key')
                s = context.wrap_socket(s, server_side=True)
            head = b''
            while b'\r\n\r\n' not in head:
                more = s.recv(65536)
                head += more
                # TLS is not what this one expects
                if not more or head[0] == 0x16:
                    break
            self.heads.append(head)
            if b'\r\n\r\n' in head:
                self.behave(Connection(s, head))
        except (OSError, ssl.SSLError):
            pass
        finally:
            s.close()

    def leaked(self, token):
        return any(token in head for head in self.heads)

    def close(self):
        # a close alone leaves accept waiting, which keeps the port
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Connection:
    def __init__(self, s, head):
        self.s, self.head, self.rest = s, head, b''

    def send(self, data):
        self.s.sendall(data)

    def flood(self, data):
        """Until the other side is gone; how much it took."""
        sent = 0
        try:
            while True:
                self.s.sendall(data)
                sent += len(data)
        except (OSError, ssl.SSLError):
            return sent

    def upgrade(self, *more, accept=None):
        key = [line.split(b':', 1)[1].strip() for line in
               self.head.split(b'\r\n')
               if line.lower().startswith(b'sec-websocket-key:')][0]
        answer = accept or base64.b64encode(
            hashlib.sha1(key + GUID).digest())
        self.send(b'\r\n'.join([
            b'HTTP/1.1 101 Switching Protocols', b'Upgrade: websocket',
            b'Connection: Upgrade', b'Sec-WebSocket-Accept: ' + answer,
            *more, b'', b'']))

    def take(self, count):
        while len(self.rest) < count:
            more = self.s.recv(65536)
            if not more:
                raise OSError('gone')
            self.rest += more
        data, self.rest = self.rest[:count], self.rest[count:]
        return data

    def message(self):
        """The next frame's opcode and data."""
        first, second = self.take(2)
        length = second & 127
        if length > 125:
            length = int.from_bytes(self.take(2 if length == 126 else 8), 'big')
        mask = self.take(4)
        data = self.take(length)
        whole = (mask * (length // 4 + 1))[:length]
        return first & 15, (int.from_bytes(data, 'big') ^
                            int.from_bytes(whole, 'big')).to_bytes(
                                length, 'big')

    def until(self, part):
        """Reads on until a line with that in it; False: the other side is
        gone, as one is that only looks whether it gets a hello."""
        try:
            while True:
                opcode, data = self.message()
                if opcode == 8:
                    return False
                if part in data:
                    return True
        except OSError:
            return False


def honest(connection):
    """Runs no program: every one returns 3."""
    connection.upgrade()
    connection.send(text(HELLO))
    if connection.until(b'"run"'):
        connection.send(text(ACK))
        connection.send(text(b'{"type":"done","value":3}\n'))
        connection.until(b'never')
