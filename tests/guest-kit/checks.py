"""The numbered checks. Each starts guests of its own through `kit.guest()`
and raises wire.Broken when a rule of docs/guest-protocol.md is broken.

A check that runs a program takes it, by name, from the phrases of the guest's
language (phrases/README.md); one whose phrase is null there is left out.
"""
import json
import re
import socket
import time

from wire import Broken, cut, line_of

CHECKS = []
TOOLS = [{'global': 'tools', 'functions': ['echo', 'next', 'a', 'b', 'c'],
          'errorClass': {'name': 'ToolError', 'memberNameProperty': 'tool'}}]
LOSSY = 'program completion must be lossless JSON'
LOSSY_ARGUMENT = 'binding arguments must be lossless JSON'


def check(title, *phrases):
    def add(function):
        CHECKS.append((function.__name__, title, phrases, function))
        return function
    return add


def equal(got, wanted, what):
    if got != wanted:
        raise Broken('%s is %s, not %s' % (what, cut(str(got)),
                                           cut(str(wanted))))


def value_of(guest, wanted):
    done = guest.next('done')
    if done.error is not None:
        raise Broken('the program failed: %s' % cut(str(done.error)))
    equal(done.value, wanted, 'the value')


def failure_of(guest, kind):
    done = guest.next('done')
    if done.error is None:
        raise Broken('done has the value %s where %s was due' %
                     (cut(str(done.value)), kind))
    equal(done.error[0], kind, 'the kind')
    return done.error[1]


def over(guest, status=0):
    """Nothing more is said, the port is closed, the exit status is this."""
    guest.silence()
    equal(guest.ended(), status, 'the exit status')


def wait_closed(guest, what):
    try:
        status = guest.ended()
    except Broken as error:
        raise Broken('%s: %s' % (what, error)) from None
    return status


def check_idle(guest):
    before = guest.cpu()
    time.sleep(0.6)
    used = guest.cpu() - before
    if used > 0.05:
        raise Broken('%.2f s of CPU in 0.6 s of waiting' % used)


# --- before a program ---

@check('says nothing before boot')
def silent_before_boot(kit):
    guest = kit.guest()
    guest.quiet(min(0.3, kit.patience / 4))
    guest.boot()
    guest.next('boot-ack')


@check('answers boot with boot-ack: protocol 1 and its language')
def boot_ack(kit):
    guest = kit.guest()
    guest.boot()
    language = guest.next('boot-ack').language
    if not re.fullmatch('[a-z0-9-]{1,32}', language):
        raise Broken('the language is %r' % cut(language))
    guest.quiet(min(0.2, kit.patience / 4))


@check('ends without boot-ack when the protocol is another')
def other_protocol(kit):
    guest = kit.guest()
    guest.say(type='boot', protocol=2, maxOutputBytes=67108864, maxHeapMb=512)
    wait_closed(guest, 'boot with protocol 2')
    guest.silence()


@check('ends when run comes before boot, and runs nothing', 'value')
def run_before_boot(kit):
    guest = kit.guest()
    guest.run(kit.phrase('value'), [])
    wait_closed(guest, 'run before boot')
    guest.silence()


@check('ends when the port is closed before boot')
def closed_before_boot(kit):
    guest = kit.guest()
    guest.socket.shutdown(socket.SHUT_RDWR)
    wait_closed(guest, 'the port was closed before boot')


@check('ends when the port is closed between boot and run')
def closed_before_run(kit):
    guest = kit.guest()
    guest.boot()
    guest.next('boot-ack')
    guest.socket.shutdown(socket.SHUT_RDWR)
    wait_closed(guest, 'the port was closed before run')


@check('uses no CPU while it waits for run')
def idle_before_run(kit):
    guest = kit.guest()
    guest.boot()
    guest.next('boot-ack')
    time.sleep(0.5)  # what it makes ready ahead of need may end
    check_idle(guest)


# --- how lines come ---

@check('runs a program: done with its value, then exit status 0', 'value')
def value(kit):
    guest = kit.start('value')
    value_of(guest, '3')
    over(guest)


@check('takes boot and run in one piece', 'value')
def one_piece(kit):
    guest = kit.guest()
    guest.send(line_of(type='boot', protocol=1, maxOutputBytes=67108864,
                       maxHeapMb=512) +
               line_of(type='run', program=kit.phrase('value'),
                       namespaces=[]))
    guest.next('boot-ack')
    value_of(guest, '3')
    over(guest)


@check('takes lines byte by byte', 'value')
def byte_by_byte(kit):
    guest = kit.guest()
    for byte in line_of(type='boot', protocol=1, maxOutputBytes=67108864,
                        maxHeapMb=512):
        guest.send(bytes([byte]))
    guest.next('boot-ack')
    line = line_of(type='run', program=kit.phrase('value'), namespaces=[])
    for at, byte in enumerate(line):
        guest.send(bytes([byte]))
        if at in (1, len(line) - 2):
            time.sleep(0.05)
    value_of(guest, '3')
    over(guest)


@check('passes over keys that it does not know, and spaces within values',
       'value')
def unknown_keys(kit):
    guest = kit.guest()
    guest.send(b'{"type":"boot","protocol":1,"later":{"a":[1,"}",null]},'
               b'"maxOutputBytes":67108864,"maxHeapMb":512,"x":"\\n"}\n')
    guest.next('boot-ack')
    guest.send(b'{"type":"run","x":[],"program":%s,"namespaces":[ {"global": '
               b'"tools", "functions": [ "echo" ]} ],"y":-1.5e3}\n' %
               json.dumps(kit.phrase('value')).encode())
    value_of(guest, '3')
    over(guest)


@check('takes a program of 4 MiB', 'value')
def long_program(kit):
    guest = kit.ready()
    guest.run('\n' * (4 << 20) + kit.phrase('value'), [])
    value_of(guest, '3')
    over(guest)


# --- completions ---

@check('done has no value when the program returns nothing', 'nothing')
def nothing(kit):
    guest = kit.start('nothing')
    done = guest.next('done')
    if done.value is not None or done.error is not None:
        raise Broken('done is not bare: %s' % cut(str(done.raw)))
    over(guest)


@check('a null that is returned is the value null', 'null')
def null(kit):
    guest = kit.start('null')
    value_of(guest, 'null')
    over(guest)


@check('characters outside of ASCII cross, in the program and in the value',
       'unicode')
def unicode(kit):
    guest = kit.start('unicode')
    done = guest.next('done')
    equal(json.loads(done.value or 'null'), 'é€😀', 'the value')
    over(guest)


@check('an exception is done with kind exception and its message, status 0',
       'throw')
def throw(kit):
    guest = kit.start('throw')
    message = failure_of(guest, 'exception')
    if 'boom' not in message:
        raise Broken('the message lacks the text: %r' % cut(message))
    over(guest)


@check('a program that does not parse is an exception, and does not run',
       'syntax')
def syntax(kit):
    for program in kit.phrase('syntax'):
        guest = kit.ready()
        guest.run(program, TOOLS)
        if failure_of(guest, 'exception') == '':
            raise Broken('the message of %r is empty' % program)
        over(guest)


@check('a value that is no lossless JSON is invalid-output, and says so',
       'lossy')
def lossy(kit):
    for name in kit.phrase('lossy'):
        guest = kit.ready()
        guest.run(name, TOOLS)
        message = failure_of(guest, 'invalid-output')
        if not message.startswith(LOSSY):
            raise Broken('the message of %r is %r, not "%s…"' %
                         (name, cut(message), LOSSY))
        over(guest)


@check('an exit of the program is the exit status, without done', 'exit')
def exit_status(kit):
    guest = kit.start('exit')
    over(guest, 7)


# --- logs ---

@check('logs come in order, each in a line, before done', 'logs')
def logs(kit):
    guest = kit.start('logs')
    equal([guest.next('log').log for _ in range(3)], ['one', 'two', 'three'],
          'the logs')
    value_of(guest, '1')
    over(guest)


@check('a log is sent at once, not at the end', 'log_then_call')
def log_at_once(kit):
    guest = kit.start('log_then_call')
    equal(guest.next('log').log, 'before', 'the log')
    guest.reply(guest.next('call'), None)
    equal(guest.next('log').log, 'after', 'the log')
    value_of(guest, '1')
    over(guest)


@check('20,000 logs reach a host that does not read for a while', 'many_logs')
def many_logs(kit):
    guest = kit.start('many_logs')
    time.sleep(0.3)
    for number in range(20000):
        equal(guest.next('log').log, 'line %d' % number, 'the log')
    value_of(guest, '20000')
    over(guest)


@check('maxOutputBytes: what would be dropped need not be sent, and the end '
       'is told', 'many_logs')
def output_limit(kit):
    guest = kit.ready(output=2000)
    guest.run(kit.phrase('many_logs'), TOOLS)
    count = 0
    while True:
        message = guest.next()
        if message is None:
            raise Broken('the port was closed before done')
        if message.type == 'done':
            break
        line = 'line %d' % count
        if message.log != line:
            # the last one may be cut
            if not line.startswith(message.log):
                raise Broken('the log is %r, not %r' %
                             (cut(message.log), line))
            message = guest.next('done')
            break
        count += 1
    if count < 150:
        raise Broken('only %d logs of 2,000 bytes were sent' % count)
    if message.error is None:
        equal(message.value, '20000', 'the value')
    else:
        equal(message.error[0], 'output-limit', 'the kind')
    over(guest)


# --- calls ---

@check('a call has its namespace, name and argument; its reply is the result',
       'echo')
def call(kit):
    guest = kit.start('echo')
    call = guest.next('call')
    equal((call.namespace, call.name), ('tools', 'echo'), 'what is called')
    equal(json.loads(call.argument), {'a': [1, 'x', None]}, 'the argument')
    guest.reply(call, {'b': 2})
    equal(json.loads(guest.next('done').value or 'null'), {'b': 2},
          'the value')
    over(guest)


@check('calls in sequence: the next one has what the last was answered',
       'sequence')
def sequence(kit):
    guest = kit.start('sequence')
    for number in range(1, 51):
        call = guest.next('call')
        equal(call.argument, str(number), 'the argument')
        guest.reply(call, number + 1)
    value_of(guest, '51')
    over(guest)


@check('calls made together are sent together, in their order', 'parallel')
def parallel(kit):
    guest = kit.start('parallel')
    calls = [guest.next('call') for _ in range(3)]
    equal([c.name for c in calls], ['a', 'b', 'c'], 'the order of calls')
    for call in calls:
        guest.reply(call, call.name.upper())
    value_of(guest, '["A","B","C"]')
    over(guest)


@check('replies may come in any order, and in one piece', 'parallel')
def out_of_order(kit):
    guest = kit.start('parallel')
    calls = [guest.next('call') for _ in range(3)]
    guest.send(b''.join(
        line_of(type='reply', id=c.id, value=c.name.upper())
        for c in reversed(calls)))
    value_of(guest, '["A","B","C"]')
    over(guest)


@check('the values that cross from host to program and back are the same',
       'give')
def lossless(kit):
    values = ['null', 'true', 'false', '0', '-1', '1.5', '1e+21', '5e-324',
              '1.7976931348623157e308', '9007199254740992', '""', '[]', '{}',
              r'"\u0000\u001f\"\\/"', '"é€😀"', r'"\ud800"', r'"x\udfffy"',
              '[[],{},[{}]]', '{"b":1,"a":2,"":3}',
              '{"__proto__":{"x":1},"constructor":1,"toString":null}',
              '[0.1,1e-7,123456789012345680000,-2.5]']
    guest = kit.start('give')
    text = '[%s]' % ','.join(values)
    guest.reply(guest.next('call'), raw=text)
    done = guest.next('done')
    if done.value is None:
        raise Broken('no value: %s' % cut(str(done.error)))
    got, wanted = (json.loads(one, object_pairs_hook=list, parse_int=float)
                   for one in (done.value, text))
    for one, other, source in zip(got, wanted, values):
        # of numbers the type may change (1e21), not the value
        if one != other or isinstance(one, bool) != isinstance(other, bool):
            raise Broken('%s came back as %s' % (source, cut(repr(one))))
    equal(len(got), len(wanted), 'the number of values')
    over(guest)


@check('a value 20,000 deep crosses both ways', 'give')
def deep(kit):
    guest = kit.start('give')
    text = '[' * 20000 + '"leaf"' + ']' * 20000
    guest.reply(guest.next('call'), raw=text)
    value_of(guest, text)
    over(guest)


@check('a rejected call is an instance of the error class: name, message, '
       'member', 'catch')
def error_class(kit):
    guest = kit.start('catch')
    guest.reply(guest.next('call'), error='no such "thing"\n\ud83d\ude00')
    done = guest.next('done')
    equal(json.loads(done.value or 'null'),
          [True, 'ToolError', 'no such "thing"\n😀', 'echo'],
          '[instance of ToolError, name, message, tool]')
    over(guest)


@check('without an error class it is the plain error of the language',
       'catch_plain')
def plain_error(kit):
    guest = kit.ready()
    guest.run(kit.phrase('catch_plain'),
              [{'global': 'tools', 'functions': ['echo']}])
    guest.reply(guest.next('call'), error='no')
    done = guest.next('done')
    equal(json.loads(done.value or 'null'), [True, 'no'],
          '[plain error, message]')
    over(guest)


@check('a rejection that nobody catches is an exception with its message',
       'echo')
def uncaught(kit):
    guest = kit.start('echo')
    guest.reply(guest.next('call'), error='the host says no')
    message = failure_of(guest, 'exception')
    if 'the host says no' not in message:
        raise Broken('the message lacks the text: %r' % cut(message))
    over(guest)


@check('an argument that is no lossless JSON is refused before it is sent',
       'lossy_argument')
def lossy_argument(kit):
    guest = kit.start('lossy_argument')
    done = guest.next('done')
    equal(json.loads(done.value or 'null'), LOSSY_ARGUMENT, 'what was caught')
    over(guest)


@check('any string may be the name of a function', 'odd_names')
def odd_names(kit):
    names = ['__proto__', 'constructor', 'a b', 'q"\\\n', 'é😀', '', 'then']
    guest = kit.ready()
    guest.run(kit.phrase('odd_names'),
              [{'global': 'tools', 'functions': names}])
    for name in names:
        call = guest.next('call')
        equal(call.name, name, 'the name')
        guest.reply(call, len(name))
    value_of(guest, '7')
    over(guest)


@check('several namespaces are apart from each other', 'two_namespaces')
def two_namespaces(kit):
    guest = kit.ready()
    guest.run(kit.phrase('two_namespaces'),
              [{'global': 'one', 'functions': ['f']},
               {'global': 'two', 'functions': ['f']}])
    for name in ('one', 'two'):
        call = guest.next('call')
        equal((call.namespace, call.name), (name, 'f'), 'what is called')
        guest.reply(call, name)
    value_of(guest, '["one","two"]')
    over(guest)


@check('a function that was not declared is not called', 'undeclared')
def undeclared(kit):
    guest = kit.start('undeclared')
    message = guest.next()
    if message is not None and message.type == 'call':
        # it may also ask the host, which says no
        guest.reply(message, error='unknown binding "tools.nothere"')
        message = guest.next()
    if message is None or message.type != 'done' or message.error is None:
        raise Broken('the program went on')
    equal(message.error[0], 'exception', 'the kind')
    over(guest)


@check('done does not wait for calls that the program did not wait for',
       'forgotten')
def forgotten(kit):
    guest = kit.start('forgotten')
    guest.next('call')
    value_of(guest, '"done"')
    over(guest)


@check('a reply that comes after done does no harm', 'forgotten')
def late_reply(kit):
    guest = kit.start('forgotten')
    call = guest.next('call')
    value_of(guest, '"done"')
    try:
        guest.reply(call, 'too late')
    except Broken:
        pass  # it is gone already
    over(guest)


@check('uses no CPU while it waits for a reply', 'echo')
def idle_in_call(kit):
    guest = kit.start('echo')
    call = guest.next('call')
    time.sleep(0.3)
    check_idle(guest)
    guest.reply(call, 1)
    value_of(guest, '1')
    over(guest)


@check('ends when the port is closed while a call is in flight', 'echo')
def closed_in_call(kit):
    guest = kit.start('echo')
    guest.next('call')
    guest.socket.shutdown(socket.SHUT_RDWR)
    wait_closed(guest, 'the port was closed during a call')


# --- size ---

@check('a value of 64 MiB is sent whole', 'repeat')
def big_value(kit):
    size = kit.big - 4
    guest = kit.start('repeat')
    guest.reply(guest.next('call'), size)
    done = guest.next('done', within=kit.patience * 6)
    if done.value != '"' + 'x' * size + '"':
        raise Broken('the value is not %d times x: %s' %
                     (size, cut(str(done.value or done.error))))
    over(guest)


@check('a reply of 64 MiB arrives whole', 'length')
def big_reply(kit):
    guest = kit.start('length')
    guest.reply(guest.next('call'), raw='"' + 'y' * kit.big + '"')
    done = guest.next('done', within=kit.patience * 6)
    equal(done.value, str(kit.big), 'the length')
    over(guest)


@check('reads while it writes: two full sockets do not lock', 'cross')
def cross(kit):
    """It writes 8 MiB while we write 8 MiB and read nothing until we have."""
    guest = kit.start('cross')
    small = guest.next('call')
    equal(small.name, 'a', 'the first call')
    guest.reply(small, raw='"' + 'z' * (8 << 20) + '"')
    big = guest.next('call')
    equal(len(big.argument), (8 << 20) + 2, 'the length of the argument')
    guest.reply(big, 1)
    value_of(guest, str(8 << 20))
    over(guest)


@check('a host that reads nothing delays the guest and nobody else',
       'many_logs')
def host_never_reads(kit):
    guest = kit.start('many_logs')
    time.sleep(0.3)
    guest.socket.shutdown(socket.SHUT_RDWR)
    wait_closed(guest, 'the port was closed before its logs were read')
