"""The wire as the kit sees it: strict lines, and one guest on a socket.

Nothing here trusts the guest: a line is taken apart by a scanner of our own
that knows compact, lossless JSON and nothing else, and that does not recurse.
"""
import decimal
import json
import os
import re
import select
import signal
import socket
import subprocess
import tempfile
import time

PLAIN = r'[^"\\\x00-\x1f]*'
STRING = (r'"' + PLAIN + r'(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})' + PLAIN +
          r')*"')
NUMBER = r'-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?'
TOKEN = re.compile('(?P<string>%s)|(?P<number>%s)|(?P<word>true|false|null)'
                   r'|(?P<mark>[\[\]{},:])' % (STRING, NUMBER))


class Broken(Exception):
    """The guest broke a rule; the text says which."""


def cut(text, most=160):
    if isinstance(text, bytes):
        text = text.decode('utf-8', 'backslashreplace')
    return text if len(text) <= most else text[:most] + '…'


def check_number(text):
    value = float(text)
    if value in (float('inf'), float('-inf')):
        raise Broken('the number %s is too large for a double' % cut(text, 40))
    if value == 0 and text[0] == '-':
        raise Broken('a number is -0')
    # an integer is exact, or the shortest text of its double, as 1e21 is
    if re.fullmatch(r'-?[0-9]+', text) and int(value) != int(text) and \
            int(decimal.Decimal(repr(value))) != int(text):
        raise Broken('the integer %s is not what a double holds'
                     % cut(text, 40))


def scan(text):
    """Checks one compact JSON value and yields its outermost members, as
    (key, start, end); whatever is wrong with it is Broken."""
    at, stack, members = 0, [], []
    key = None          # of the outermost object's current member
    start = 0
    expect = 'value'    # or 'key', 'first-key', 'first', ':', ',' or 'end'
    while at < len(text) or expect != 'end':
        found = TOKEN.match(text, at)
        if found is None:
            raise Broken('no compact JSON at byte %d of %r' %
                         (at, cut(text[max(0, at - 40):at + 40])))
        kind, token, begin = found.lastgroup, found.group(), at
        at = found.end()
        closes = token in ('}', ']') and kind == 'mark'
        if closes:
            opener = '{' if token == '}' else '['
            allowed = {',', 'first-key' if opener == '{' else 'first'}
            if not stack or stack[-1] != opener or expect not in allowed:
                raise Broken('a bracket out of place in %r' % cut(text))
            stack.pop()
        elif expect in ('key', 'first-key'):
            if kind != 'string':
                raise Broken('a key is no string in %r' % cut(text))
            if len(stack) == 1:
                key = token
            expect = ':'
            continue
        elif expect == ':':
            if token != ':':
                raise Broken('a colon is missing in %r' % cut(text))
            if len(stack) == 1:
                start = at
            expect = 'value'
            continue
        elif expect == ',':
            if token != ',':
                raise Broken('a comma is missing in %r' % cut(text))
            expect = 'key' if stack[-1] == '{' else 'value'
            continue
        elif expect == 'end':
            raise Broken('there is more behind the value in %r' % cut(text))
        elif kind == 'mark' and token in '{[':
            stack.append(token)
            expect = 'first-key' if token == '{' else 'first'
            continue
        elif kind == 'mark':
            raise Broken('a value is missing in %r' % cut(text))
        elif kind == 'number':
            check_number(token)
        # a value ends here
        expect = ',' if stack else 'end'
        if key is not None and len(stack) == 1 and stack[0] == '{':
            members.append((key, start, at))
            key = None
    return members


def take_apart(line):
    """A guest's line as {key: raw text of its value}."""
    try:
        text = line.decode('utf-8')
    except UnicodeDecodeError as error:
        raise Broken('a line is not UTF-8: %s' % error) from None
    if not text.startswith('{'):
        raise Broken('a line is no object: %r' % cut(text))
    out = {}
    for key, start, end in scan(text):
        key = key[1:-1]  # byte by byte: one with escapes is not ours
        if key in out and key in NAMED:
            raise Broken('the key %r stands twice in a line' % key)
        out[key] = text[start:end]
    return out


FIELDS = {
    'boot-ack': ({'protocol', 'language'}, set()),
    'call': ({'id', 'namespace', 'name', 'argument'}, set()),
    'log': ({'text'}, set()),
    'done': (set(), {'value', 'error'}),
}
NAMED = {'type'}.union(*(a | b for a, b in FIELDS.values()))
KINDS = ('exception', 'invalid-output', 'output-limit', 'out-of-memory',
         'worker-exit')


class Message:
    """One line of the guest, checked against the document."""

    def __init__(self, line):
        self.raw = take_apart(line)
        self.type = self.raw.get('type', '')[1:-1]
        if self.type not in FIELDS:
            raise Broken('a line of no known type: %r' % cut(line))
        must, may = FIELDS[self.type]
        for name in must:
            if name not in self.raw:
                raise Broken('a %s without "%s"' % (self.type, name))
        getattr(self, 'check_' + self.type.replace('-', '_'))()

    def text(self, name):
        if not self.raw[name].startswith('"'):
            raise Broken('"%s" of a %s is no string: %s' %
                         (name, self.type, cut(self.raw[name])))
        return json.loads(self.raw[name])

    def check_boot_ack(self):
        if self.raw['protocol'] != '1':
            raise Broken('"protocol" is %s, not 1' % self.raw['protocol'])
        self.language = self.text('language')

    def check_call(self):
        if not re.fullmatch('[1-9][0-9]{0,9}', self.raw['id']) or \
                int(self.raw['id']) > 0xffffffff:
            raise Broken('"id" of a call is %s' % cut(self.raw['id']))
        self.id = int(self.raw['id'])
        self.namespace = self.text('namespace')
        self.name = self.text('name')
        self.argument = self.raw['argument']

    def check_log(self):
        # some languages' print ends what it writes with a line feed
        text = self.text('text')
        self.log = text[:-1] if text.endswith('\n') else text

    def check_done(self):
        self.value = self.raw.get('value')
        self.error = None
        if 'error' not in self.raw:
            return
        if self.value is not None:
            raise Broken('a done with both "value" and "error"')
        error = json.loads(self.raw['error'])
        if not isinstance(error, dict) or error.get('kind') not in KINDS or \
                not isinstance(error.get('message'), str):
            raise Broken('"error" of a done is %s' % cut(self.raw['error']))
        self.error = (error['kind'], error['message'])


class Guest:
    """A guest's process and the host's end of its port."""

    def __init__(self, command, patience):
        self.patience = patience
        self.socket, theirs = socket.socketpair()
        self.lines, self.rest, self.eof = [], bytearray(), False
        self.in_flight, self.done = set(), None
        self.words = tempfile.TemporaryFile()  # a pipe would fill
        spare = os.open(os.devnull, os.O_RDWR)

        try:
            self.process = subprocess.Popen(
                command, stdin=spare, stdout=spare, stderr=self.words,
                preexec_fn=lambda: os.dup2(theirs.fileno(), 3), pass_fds=(3,),
                cwd='/', env={}, start_new_session=True)
        except OSError as error:
            raise Broken('it cannot be executed: %s' % error) from None
        finally:
            theirs.close()
            os.close(spare)

    # --- to the guest ---

    def send(self, data):
        """All of it, and never longer than our patience; reads nothing."""
        view, until = memoryview(data), time.monotonic() + self.patience
        self.socket.setblocking(False)
        while view:
            left = until - time.monotonic()
            if left <= 0 or not select.select([], [self.socket], [], left)[1]:
                raise Broken('the guest did not read for %g s'
                             % self.patience)
            try:
                view = view[self.socket.send(view[:1 << 18]):]
            except (BrokenPipeError, ConnectionResetError):
                raise Broken('the guest closed the port: ' +
                             self.last_words()) from None

    def say(self, **fields):
        self.send(line_of(**fields))

    def boot(self, output=67108864, heap=512):
        self.say(type='boot', protocol=1, maxOutputBytes=output,
                 maxHeapMb=heap)

    def run(self, program, namespaces):
        self.say(type='run', program=program, namespaces=namespaces)

    def reply(self, call, value=None, error=None, raw=None):
        self.in_flight.discard(call.id)
        if error is not None:
            self.say(type='reply', id=call.id, error=error)
        else:
            text = json.dumps(value) if raw is None else raw
            self.send(b'{"type":"reply","id":%d,"value":%s}\n' %
                      (call.id, text.encode()))

    # --- from the guest ---

    def fill(self, until):
        """More bytes; False: the time is over or nothing will come."""
        if self.eof:
            return False
        left = until - time.monotonic()
        if left <= 0 or not select.select([self.socket], [], [], left)[0]:
            return False
        try:
            data = self.socket.recv(1 << 20)
        except BlockingIOError:
            return True
        except ConnectionResetError:
            data = b''
        if not data:
            self.eof = True
            if self.rest:
                raise Broken('the last line has no line feed: %r' %
                             cut(bytes(self.rest)))
            return False
        self.rest += data
        if b'\n' in data:
            *lines, rest = bytes(self.rest).split(b'\n')
            self.lines += lines
            self.rest = bytearray(rest)
        return True

    def next(self, kind=None, within=None):
        """The next message; None: the guest closed the port."""
        until = time.monotonic() + (within or self.patience)
        while not self.lines:
            if not self.fill(until):
                break
        if not self.lines:
            if not self.eof:
                raise Broken('no %s within %g s' %
                             (kind or 'line', within or self.patience))
            if kind is not None:
                raise Broken('the port was closed before a %s: %s' %
                             (kind, self.last_words()))
            return None
        message = Message(self.lines.pop(0))
        if self.done is not None:
            raise Broken('a %s behind done' % message.type)
        if message.type == 'call':
            if message.id in self.in_flight:
                raise Broken('the id %d is in flight already' % message.id)
            self.in_flight.add(message.id)
        if message.type == 'done':
            self.done = message
        if kind is not None and message.type != kind:
            raise Broken('a %s came where a %s was due (%s)' % (
                message.type, kind, cut(json.dumps(message.raw))))
        return message

    def quiet(self, seconds):
        """Nothing comes for so long, and the port stays open."""
        until = time.monotonic() + seconds
        while not self.lines and self.fill(until):
            pass
        if self.lines:
            raise Broken('a line out of turn: %r' % cut(self.lines[0]))
        if self.eof:
            raise Broken('the port was closed: ' + self.last_words())

    def silence(self):
        """It says nothing any more, until it has ended."""
        message = self.next()
        if message is not None:
            raise Broken('a %s where nothing was due' % message.type)

    # --- its end ---

    def last_words(self):
        try:
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            return 'its process goes on'
        self.words.seek(0)
        words = self.words.read(400).decode('utf-8', 'replace')
        return 'it ended with %s%s' % (
            self.process.returncode, ' (%s)' % words.strip() if words else '')

    def ended(self):
        """Its exit status; negative: a signal."""
        try:
            return self.process.wait(self.patience)
        except subprocess.TimeoutExpired:
            raise Broken('the process did not end within %g s' %
                         self.patience) from None

    def cpu(self):
        """CPU seconds of its process, all threads."""
        with open('/proc/%d/stat' % self.process.pid) as file:
            fields = file.read().rpartition(')')[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf('SC_CLK_TCK')

    def close(self):
        """Whatever is left of it goes, its children too."""
        self.socket.close()
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.kill()
        self.process.wait()
        self.words.close()


def line_of(**fields):
    return json.dumps(fields, separators=(',', ':')).encode() + b'\n'
