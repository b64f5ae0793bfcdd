# The part of the realm that is best said in Python. It is compiled into the
# executable and run once, in the zygote, with the functions of the C side among
# its globals (os_write, port_read, write_text, write_bytes ...) and with its own
# copy of the builtins: a program that changes those changes nothing here.

import _ast
import _random
import asyncio
import functools
import io
import linecache
import os
import random
import selectors
import sys
import traceback
from asyncio import events

FILE = "program.py"
ONLY_AST = _ast.PyCF_ONLY_AST


# The program: the body of an async function, made from its syntax tree.

# What str.splitlines() takes for the end of a line and Python does not.
NO_LINE_END = dict.fromkeys(map(ord, "\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")


def show_source(text):
    """For tracebacks, when there is one: linecache asks for it by itself."""
    linecache.cache[FILE] = lambda: text.translate(NO_LINE_END),


def source_line(text, number):
    lines = io.StringIO(text, newline=None).readlines()
    return lines[number - 1] if number <= len(lines) else ""


def syntax_error(message, node, source):
    line = source_line(source, node.lineno)
    end = source_line(source, node.end_lineno)

    def column(text, offset):
        return len(text.encode()[:offset].decode(errors="replace")) + 1

    return SyntaxError(message, (
        FILE, node.lineno, column(line, node.col_offset), line,
        node.end_lineno, column(end, node.end_col_offset)))


def blocks(node):
    """The lists of statements that belong to the same scope as the node."""
    for field in node._fields:
        value = getattr(node, field)
        if type(value) is list and value and isinstance(
                value[0], (_ast.stmt, _ast.excepthandler, _ast.match_case)):
            yield value


SCOPES = _ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef


def find_yield(body):
    """A yield of the program's own scope, or None."""
    todo = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, (_ast.Yield, _ast.YieldFrom)):
            return node
        for field in node._fields:
            if field == "body" and isinstance(node, SCOPES + (_ast.Lambda,)):
                continue
            value = getattr(node, field)
            if isinstance(value, _ast.AST):
                todo.append(value)
            elif type(value) is list:
                todo.extend(x for x in value if isinstance(x, _ast.AST))
    return None


def wrap_return(node):
    """`return x` gives a tuple of one; what gives None returned nothing."""
    value = node.value
    if value is not None:
        node.value = _ast.Tuple(
            elts=[value], ctx=_ast.Load(), lineno=value.lineno,
            col_offset=value.col_offset, end_lineno=value.end_lineno,
            end_col_offset=value.end_col_offset)


def declared(todo):
    """The names that inner scopes declare global, and nonlocal."""
    outer, inner = set(), set()
    while todo:
        for node in todo.pop():
            if type(node) is _ast.Global:
                outer.update(node.names)
            elif type(node) is _ast.Nonlocal:
                inner.update(node.names)
            else:
                todo.extend(blocks(node))
    return outer, inner


def make_body(body):
    """The statements as they stand in the function."""
    annotated, scopes, todo = [], [], [body]
    while todo:
        for node in todo.pop():
            kind = type(node)
            if kind is _ast.Return:
                wrap_return(node)
            elif kind in SCOPES:
                scopes.append(node.body)
            elif kind is _ast.AnnAssign:
                annotated.append(node)
            else:
                todo.extend(blocks(node))
    # What an inner function calls global is the program's variable of that
    # name, as it would be in a module.
    outer, inner = declared(scopes)
    outer -= inner
    if not outer:
        return body
    for node in annotated:
        if type(node.target) is _ast.Name and node.target.id in outer:
            node.simple = 0
    return [_ast.Global(names=sorted(outer), lineno=1, col_offset=0,
                        end_lineno=1, end_col_offset=0)] + body


def is_future(node):
    return (type(node) is _ast.ImportFrom and node.module == "__future__"
            and node.level == 0)


def compile_program(text):
    """The code of the async function whose body the program is."""
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise SyntaxError("source code cannot contain null bytes")
    show_source(text)
    tree = compile(text, FILE, "exec", ONLY_AST, True)
    body = tree.body
    if "yield" in text:
        found = find_yield(body)
        if found is not None:
            raise syntax_error("'yield' outside function", found, text)
    start = 0
    if body and type(body[0]) is _ast.Expr and type(
            body[0].value) is _ast.Constant and type(
            body[0].value.value) is str:
        start = 1
    end = start
    while end < len(body) and is_future(body[end]):
        end += 1
    futures = body[start:end]
    del body[start:end]
    where = dict(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
    function = _ast.AsyncFunctionDef(
        name="<module>", body=make_body(body) or [_ast.Pass(**where)],
        args=_ast.arguments(posonlyargs=[], args=[], kwonlyargs=[],
                            kw_defaults=[], defaults=[]),
        decorator_list=[], **where)
    module = compile(_ast.Module(body=futures + [function], type_ignores=[]),
                     FILE, "exec", 0, True)
    for constant in module.co_consts:
        if type(constant) is type(module):
            return constant
    raise SystemError("the program was compiled to nothing")


# Failures: the program's own lines and no others.

def render(error):
    whole = traceback.TracebackException(
        type(error), error, error.__traceback__, compact=True)
    todo = [whole]
    while todo:
        part = todo.pop()
        part.stack[:] = [x for x in part.stack if x.filename == FILE]
        if part.exc_type is not None and issubclass(
                part.exc_type, SyntaxError) and part.text is None:
            add_line(part)
        todo.extend(x for x in (part.__cause__, part.__context__) if x)
        todo.extend(part.exceptions or ())
    return "".join(whole.format()).removesuffix("\n")


def add_line(part):
    if part.filename == FILE and part.lineno is not None:
        part.text = linecache.getline(FILE, int(part.lineno)) or None


class Message:
    """`message` of an error that the program made itself."""

    def __get__(self, error, kind=None):
        if error is None:
            return self
        return str(error.args[0]) if error.args else ""


def error_class(name, member):
    return type(name, (Exception,), {
        "__module__": "__main__", "name": name, "message": Message(),
        member: None})


# The event loop: asyncio's own, with a pipe where a socket would be refused.

class PipeEnd:
    def __init__(self, fd):
        self.fd = fd

    def fileno(self):
        return self.fd

    def recv(self, count):
        return os.read(self.fd, count)

    def send(self, data):
        return os_write(self.fd, data)

    def close(self):
        os.close(self.fd)


def busy(what):
    return RuntimeError(
        what + " cannot be called from a running event loop: the program is "
        "the body of an async function already, so write `await main()`")


class Selector(selectors.PollSelector):
    """Tells its loop before it waits."""
    before = None

    def select(self, timeout=None):
        if self.before is not None and (timeout is None or timeout > 0):
            # a thread that came before the pipe could not write to it
            if self.before():
                timeout = 0
        return super().select(timeout)


class Loop(asyncio.SelectorEventLoop):
    """Its pipe, by which other threads wake it, is made when it first waits:
    the program's loop is made in the zygote, and the pipe must be the child's.
    """

    def __init__(self, selector=None):
        super().__init__(selector or Selector())

    def _make_self_pipe(self):
        self._ssock = self._csock = None
        self._selector.before = self.make_pipe

    def make_pipe(self):
        self._selector.before = None
        ends = os.pipe()
        for fd in ends:
            os.set_blocking(fd, False)
        self._ssock, self._csock = map(PipeEnd, ends)
        self._internal_fds += 1
        self._add_reader(ends[0], self._read_from_self)
        return len(self._ready) != 0

    def _close_self_pipe(self):
        if self._ssock is not None:
            super()._close_self_pipe()

    def add_signal_handler(self, number, callback, *args):
        if self._csock is None:
            self.make_pipe()
        super().add_signal_handler(number, callback, *args)

    def run_until_complete(self, future):
        if self.is_running():
            if asyncio.iscoroutine(future):
                future.close()
            raise busy("loop.run_until_complete()")
        return super().run_until_complete(future)


class Policy(asyncio.DefaultEventLoopPolicy):
    _loop_factory = Loop


def guard(owner, name, what, index):
    """Says `await main()` where asyncio says only what cannot be."""
    inner = getattr(owner, name)

    def run(*args, **names):
        if events._get_running_loop() is not None:
            if len(args) > index and asyncio.iscoroutine(args[index]):
                args[index].close()
            raise busy(what)
        return inner(*args, **names)

    for attribute in "__name__", "__qualname__", "__doc__", "__module__":
        setattr(run, attribute, getattr(inner, attribute))
    setattr(owner, name, run)


class Call(asyncio.Future):
    """A call in flight: a future, and a coroutine for those who ask for one."""

    def send(self, value):
        if self.done():
            raise StopIteration(self.result())
        if self._asyncio_future_blocking:
            raise RuntimeError("await wasn't used with future")
        self._asyncio_future_blocking = True
        return self

    def throw(self, kind, value=None, trace=None):
        if not isinstance(kind, type):
            raise kind
        raise (value if isinstance(value, BaseException) else kind(
            *(() if value is None else (value,)))).with_traceback(trace)

    def close(self):
        pass

    def settle(self, value):
        if self.get_loop() is not loop:
            self.get_loop().call_soon_threadsafe(self.finish, value, None)
        else:
            self.finish(value, None)

    def fail(self, error):
        if self.get_loop() is not loop:
            self.get_loop().call_soon_threadsafe(self.finish, None, error)
        else:
            self.finish(None, error)

    def finish(self, value, error):
        if self.done():
            return
        if error is None:
            self.set_result(value)
        else:
            self.set_exception(error)
            # nobody has to look at a call that failed
            self._log_traceback = False


# The streams. sys.stdin is empty, so input() raises EOFError.

class Raw(io.RawIOBase):
    def __init__(self, fd, name):
        self.fd, self.name, self.mode = fd, name, "wb"

    def fileno(self):
        return self.fd

    def writable(self):
        return True

    def write(self, data):
        return write_bytes(data)

    def close(self):
        pass


class Text(io.TextIOBase):
    __slots__ = "buffer", "name", "_fd"
    encoding = "utf-8"
    errors = "surrogatepass"
    mode = "w"
    line_buffering = True
    write_through = True

    def __init__(self, fd, name):
        self._fd, self.name, self.buffer = fd, name, Raw(fd, name)

    def fileno(self):
        return self._fd

    def writable(self):
        return True

    def reconfigure(self, **names):
        pass

    def close(self):
        pass

    write = staticmethod(write_text)


def make_streams():
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(
        io.BytesIO(), encoding="utf-8")
    sys.stdout = sys.__stdout__ = Text(1, "<stdout>")
    sys.stderr = sys.__stderr__ = Text(2, "<stderr>")


def add_builtins():
    """What the `site` module would add."""
    import _sitebuiltins
    import builtins
    builtins.exit = _sitebuiltins.Quitter("exit", "Ctrl-D (i.e. EOF)")
    builtins.quit = _sitebuiltins.Quitter("quit", "Ctrl-D (i.e. EOF)")
    builtins.help = _sitebuiltins._Helper()


def rehearse(times=10):
    """Everything that a run does: what is lazy or adaptive in the interpreter
    is then done in the zygote, and not by every child."""
    text = """
import asyncio, json
from math import pi
async def f(x):
    await asyncio.sleep(0)
    return x
def g(*a, **k):
    return [i for i in a if i]
x = await asyncio.gather(f(1), f(2))
try:
    json.loads("nope" if x else None)
except ValueError as e:
    error = e
class C:
    pass
s = f"{x!r:>5}" + str(g(1, 2, k=3)) + "%s" % pi
return {"x": x, "error": error, "s": s}
"""
    def step(first):
        call = Call(loop=rehearsal)
        rehearsal.call_soon(call.finish, first, None)
        return call

    async def both(code):
        await asyncio.wait_for(step(1), 5)
        await asyncio.create_task(step(2))
        return await type(rehearse)(code, {"__name__": "rehearsal"})()

    rehearsal = Loop()
    for _ in range(times):
        task = rehearsal.create_task(both(compile_program(text)))
        task.add_done_callback(lambda _: rehearsal.stop())
        rehearsal.run_forever()
        if times > 1:
            render(task.result()[0]["error"])
    rehearsal.close()
    linecache.cache.pop(FILE, None)


def reseed_libraries():
    """What a module of the user's may have seeded in the zygote. A library that
    notices a fork by its process number notices none here: it is 1 in the
    zygote and in every child."""
    modules = sys.modules
    if "_ssl" in modules:
        modules["_ssl"].RAND_add(os.urandom(64), 64.0)
    if "_sqlite3" in modules:
        import ctypes
        path = getattr(modules["_sqlite3"], "__file__", None)
        # nothing asked of it: it takes a new seed for the next
        ctypes.CDLL(path).sqlite3_randomness(0, None)
    if "tempfile" in modules:
        modules["tempfile"]._name_sequence = None
    if "numpy.random" in modules:
        modules["numpy.random"].seed()


reseed = functools.partial(_random.Random.seed, random._inst)
add_builtins()
make_streams()
guard(asyncio, "run", "asyncio.run()", 0)
guard(asyncio.Runner, "run", "Runner.run()", 1)
asyncio.set_event_loop_policy(Policy())
rehearse()
loop = Loop()
asyncio.set_event_loop(loop)
loop._add_reader(PORT_FD, port_read)
task = loop.create_task(program, name="program")
