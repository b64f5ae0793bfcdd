#!/usr/bin/env python3
"""A guest whose programs are the names of the kit's phrases (language "kit").

    wrong.py [FAULT]

Without a fault it keeps the document; with one it breaks one rule. So each
check of the kit is shown to fail when it should (selftest.py).
"""
import json
import os
import select
import socket
import sys
import time

sys.setrecursionlimit(60000)  # json's decoder counts brackets
FAULT = sys.argv[1] if len(sys.argv) > 1 else ''
HOST = socket.socket(fileno=3)
LOSSY = 'program completion must be lossless JSON'


def faulty(name):
    return FAULT == name


class Port:
    def __init__(self):
        self.input = b''
        self.output = bytearray()
        HOST.setblocking(False)

    def wait(self, write):
        select.select([HOST], [HOST] if write else [], [])

    def read(self):
        """False: nothing is there; the end of the host is ours."""
        try:
            data = HOST.recv(1 << 20)
        except BlockingIOError:
            return False
        if not data:
            if faulty('lives-on'):
                time.sleep(600)
            os._exit(76)
        self.input += data
        return True

    def line(self):
        while b'\n' not in self.input:
            if not self.read():
                if faulty('spins'):
                    continue
                self.wait(False)
        line, self.input = self.input.split(b'\n', 1)
        if faulty('forgets-half-lines'):
            self.input = b''
        return json.loads(line)

    def raw(self, data):
        view = memoryview(data)
        while view:
            try:
                view = view[HOST.send(view):]
            except BlockingIOError:
                if faulty('never-reads-while-it-writes'):
                    time.sleep(0.01)
                elif not self.read():
                    self.wait(True)
            except (BrokenPipeError, ConnectionResetError):
                if faulty('lives-on'):
                    time.sleep(600)
                os._exit(76)

    def say(self, **fields):
        self.raw(json.dumps(fields, ensure_ascii=False,
                            separators=(',', ':'))
                 .encode('utf-8', 'surrogatepass') + b'\n')

    def value(self, text):
        self.raw(b'{"type":"done","value":%s}\n' % text.encode())


PORT = Port()
CALLS = {}


def call(name, argument, namespace='tools'):
    number = len(CALLS) + 1
    CALLS[number] = None
    sent = '__proto' if faulty('mends-names') and name == '__proto__' else name
    if faulty('one-namespace'):
        namespace = 'one'
    PORT.say(type='call', id=1 if faulty('same-id') else number,
             namespace=namespace, name=sent, argument=argument)
    return number


class Rejected(Exception):
    pass


def answer(number):
    while CALLS[number] is None:
        line = PORT.line()
        if faulty('first-reply-first'):
            line['id'] = number
        CALLS[line['id']] = line
    line = CALLS[number]
    if 'error' in line:
        raise Rejected(line['error'])
    return line['value']


def ask(name, argument, namespace='tools'):
    return answer(call(name, argument, namespace))


def dump(value):
    return json.dumps(value, separators=(',', ':'))


def log(text):
    PORT.say(type='log', text=text)


class Program:
    """One method a phrase; what it returns is the value's JSON."""

    def value(self):
        return '4' if faulty('wrong-value') else '3'

    def nothing(self):
        return 'null' if faulty('nothing-is-null') else None

    def null(self):
        return None if faulty('null-is-nothing') else 'null'

    def unicode(self):
        return '"%s"' % ('e€😀' if faulty('loses-accents') else 'é€😀')

    def throw(self):
        if faulty('digs'):
            PORT.raw(b'{"type":"done","error":%s}\n' %
                     (b'[' * 99999 + b']' * 99999))
            os._exit(0)
        raise Exception('' if faulty('loses-messages') else 'boom')

    def syntax(self):
        if faulty('runs-what-does-not-parse'):
            log('ran')
        raise Exception('syntax')

    def lossy(self):
        if faulty('takes-anything'):
            return '"NaN"'
        raise ValueError(LOSSY + ': $ is NaN')

    def exit(self):
        if faulty('exit-is-done'):
            return '7'
        os._exit(7)

    def logs(self):
        for text in ('two', 'one', 'three') if faulty('shuffles-logs') else \
                ('one', 'two', 'three'):
            log(text)
        return '1'

    def log_then_call(self):
        if not faulty('keeps-logs'):
            log('before')
        ask('echo', 1)
        if faulty('keeps-logs'):
            log('before')
        log('after')
        return '1'

    def many_logs(self):
        limit = LIMIT if not faulty('meters-too-early') else LIMIT // 10
        for number in range(20000):
            limit -= len('"line %d",' % number)
            if limit < 0:
                raise OverflowError
            if not (faulty('loses-logs') and number == 19000):
                log('line %d' % number)
        return '20000'

    def echo(self):
        argument = {'a': [1, 'x', 0 if faulty('changes-arguments') else None]}
        try:
            return dump(ask('echo', argument))
        except Rejected:
            if faulty('swallows-rejections'):
                return 'null'
            raise

    def sequence(self):
        n = 1
        while n <= 50:
            n = ask('next', n)
            if faulty('counts-by-itself') and n == 40:
                n = 42
        return dump(n)

    def parallel(self):
        if faulty('one-after-the-other'):
            return dump([ask(name, 1) for name in 'abc'])
        calls = [call(name, 1) for name in 'abc']
        return dump([answer(number) for number in calls])

    def give(self):
        value = ask('next', None)
        if faulty('rounds'):
            value[5] = 1
        if faulty('flattens'):
            return '[]'
        depth = 0
        while isinstance(value, list) and len(value) == 1:
            value, depth = value[0], depth + 1
        return '[' * depth + dump(value) + ']' * depth

    def catch(self):
        try:
            ask('echo', 1)
        except Rejected as error:
            return dump([not faulty('no-class'), 'ToolError', str(error),
                         'echo'])

    def catch_plain(self):
        try:
            ask('echo', 1)
        except Rejected as error:
            return dump([not faulty('odd-error'), str(error)])

    def lossy_argument(self):
        if faulty('sends-anything'):
            PORT.raw(b'{"type":"call","id":1,"namespace":"tools",'
                     b'"name":"echo","argument":NaN}\n')
        return '"binding arguments must be lossless JSON"'

    def odd_names(self):
        for name in ('__proto__', 'constructor', 'a b', 'q"\\\n', 'é😀', '',
                     'then'):
            ask(name, 1)
        return '7'

    def two_namespaces(self):
        return dump([ask('f', 1, 'one'), ask('f', 2, 'two')])

    def undeclared(self):
        if faulty('calls-nobody'):
            return '"went on"'
        raise Exception('tools.nothere is not a function')

    def forgotten(self):
        number = call('echo', 1)
        if faulty('waits-for-all'):
            answer(number)
        return '"done"'

    def repeat(self):
        n = ask('next', 1)
        return '"%s"' % ('x' * (n - 1 if faulty('cuts') else n))

    def length(self):
        n = len(ask('next', 1))
        return dump(min(n, 1 << 20) if faulty('cuts') else n)

    def cross(self):
        first = call('a', 1)
        second = call('b', 'w' * (8 << 20))
        answer(second)
        return dump(len(answer(first)))


def boot():
    global LIMIT
    if faulty('speaks-first'):
        PORT.say(type='boot-ack', protocol=1, language='kit')
    line = PORT.line()
    if faulty('runs-unbooted') and line['type'] == 'run':
        PORT.value('3')
        os._exit(0)
    if line['type'] != 'boot' or (line['protocol'] != 1 and
                                  not faulty('speaks-anything')):
        if faulty('stays-on-nonsense'):
            time.sleep(600)
        os._exit(76)
    if faulty('only-known-keys') and 'later' in line:
        os._exit(76)
    LIMIT = line['maxOutputBytes']
    if faulty('protocol-2'):
        PORT.say(type='boot-ack', protocol=2, language='kit')
    elif faulty('shouts'):
        PORT.say(type='boot-ack', protocol=1, language='KIT')
    elif faulty('escapes'):
        PORT.raw(b'{"type":"boot-ack","protocol":1,'
                 b'"l\\u0061nguage":"kit"}\n')
    elif faulty('spaces'):
        PORT.raw(b'{"type": "boot-ack", "protocol": 1, "language": "kit"}\n')
    else:
        PORT.say(type='boot-ack', protocol=1, language='kit')


def run():
    line = PORT.line()
    if line['type'] != 'run':
        os._exit(76)
    if faulty('short-programs') and len(line['program']) > 1 << 20:
        return None
    return getattr(Program(), line['program'].strip())()


def end():
    try:
        value = run()
    except OverflowError:
        return PORT.say(type='done', error={'kind': 'output-limit',
                                            'message': ''})
    except ValueError as error:
        kind = 'exception' if faulty('one-kind') else 'invalid-output'
        return PORT.say(type='done', error={'kind': kind,
                                            'message': str(error)})
    except Exception as error:
        return PORT.say(type='done', error={
            'kind': 'error' if faulty('own-kind') else 'exception',
            'message': str(error)})
    if value is None:
        return PORT.say(type='done')
    PORT.value(value)


if faulty('talks-to-nobody'):  # and keeps the document
    os.write(2, b'x' * (1 << 20))
boot()
end()
if faulty('done-twice'):
    PORT.say(type='done')
if faulty('no-line-feed'):
    PORT.raw(b'{"type":"log"')
if faulty('status'):
    os._exit(3)
if faulty('never-ends'):
    time.sleep(600)
if faulty('reads-late'):
    time.sleep(0.2)
    os._exit(3 if PORT.read() else 0)
os._exit(0)
