#!/usr/bin/env python3
"""Makes every attack twice: outside, where it must succeed, and inside
`--isolation process` or `container`, where it must fail in the way that its
file states.

run.py [--bin DIR] [--isolation process|container] [--mode root|user|both]
       [--only TEXT] [--layers LIST] [--verbose]

See README.md for the form of an attack.
"""
import argparse
import glob
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# the machine's own, which nobody may execute too
PYTHON = ["/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK)
          else sys.executable, "-I"]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
NAMESPACE = ["unshare", "--mount", "--pid", "--uts", "--fork", "--kill-child"]
NEXT = "# ---- the next run\n"
NORMAL = """
import os
return [await tools.echo({"a": [1]}), sorted(os.listdir("/tmp")), os.getpid()]
"""


class Attack:
    def __init__(self, path, isolation):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.name = os.path.basename(path)[:-3]
        fields = dict(re.findall(r"^# (control|outside|inside|in container"
                                 r"|calls): (.*)$",
                                 self.text, re.M))
        kind, _, rest = fields.get("control", "user").partition(":")
        self.control = kind.removesuffix(", may refuse")
        self.may_refuse = rest.strip() if "may refuse" in kind else None
        self.none = rest.strip() if kind == "none" else None
        self.outside = fields.get("outside", "value .*")
        self.inside = fields["inside"]
        if isolation == "container":
            self.inside = fields.get("in container", self.inside)
        self.calls = int(fields.get("calls", -1))
        self.parts = self.text.split(NEXT)


class Reader(threading.Thread):
    """What stands at the other end of descriptor 3 outside: it believes all
    that it hears."""

    def __init__(self, end):
        super().__init__(daemon=True)
        self.end, self.seen, self.over = end, set(), False
        self.start()

    def run(self):
        while True:
            try:
                data, fds, _, _ = socket.recv_fds(self.end, 1 << 20, 250)
            except OSError:
                return
            for fd in fds:
                os.close(fd)
                self.seen.add("was given descriptors")
            if not data:
                if not self.over:
                    self.seen.add("saw the end")
                return
            self.seen.add("heard junk" if b"junk" in data else "heard")


class World:
    """The victim, its folder, and the commands of one mode."""

    def __init__(self, mode, isolation):
        self.mode = mode
        self.root = os.geteuid() == 0
        self.prefix = NOBODY if mode == "user" and self.root else []
        self.canary = "canary" + os.urandom(12).hex()
        self.env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8",
                    "CAPSID_ESCAPE_SECRET": self.canary}
        self.folder = tempfile.mkdtemp(prefix="capsid-escape-")
        os.chmod(self.folder, 0o755)
        # what a container's keeper has on disk is there while it lives
        self.runtime = self.folder + "/run"
        self.env["XDG_RUNTIME_DIR"] = self.runtime
        os.mkdir(self.runtime, 0o700)
        if self.prefix:
            os.chown(self.runtime, 65534, 65534)
        self.data = {"folder": self.folder + "/open",
                     "isolation": isolation,
                     "secret": self.folder + "/open/secret",
                     "writable": self.folder + "/open/writable"}
        os.mkdir(self.data["folder"])
        os.chmod(self.data["folder"], 0o777)
        for path in self.data["secret"], self.data["writable"]:
            with open(path, "w", encoding="utf-8") as file:
                file.write("file-" + self.canary)
        os.chmod(self.data["writable"], 0o666)
        if self.prefix:
            for name in "folder", "secret", "writable":
                os.chown(self.data[name], 65534, 65534)
        self.victim = subprocess.Popen(
            self.prefix + PYTHON + [HERE + "/victim.py", self.data["folder"]],
            env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.data.update(json.loads(self.victim.stdout.readline()))

    def state(self):
        """What was done to the victim so far; None: it is dead."""
        try:
            self.victim.stdin.write(b"\n")
            self.victim.stdin.flush()
            state = json.loads(self.victim.stdout.readline())
        except (OSError, ValueError):
            return None
        with open(self.data["secret"], encoding="utf-8") as file:
            state["secret"] = file.read()
        with open(self.data["writable"], encoding="utf-8") as file:
            state["writable"] = file.read()
        return state

    def program(self, attack, part, inside):
        path = f"{self.folder}/{attack.name}-{part}-{inside}.py"
        with open(HERE + "/kit.py", encoding="utf-8") as file:
            kit = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{kit}\nworld = {dict(self.data, inside=inside)!r}\n"
                       + attack.parts[part])
        return path

    def close(self):
        self.victim.stdin.close()
        self.victim.wait(5)
        self.victim.stdout.close()
        shutil.rmtree(self.folder)


def last_line(process, limit):
    """The last line of its output, or None: it is still silent."""
    text, end = b"", time.monotonic() + limit
    while not text.endswith(b"}\n"):
        left = end - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            return None
        more = os.read(process.stdout.fileno(), 65536)
        if not more:
            break
        text += more
    return text.decode(errors="replace").strip().rpartition("\n")[2]


def run_outside(world, attack):
    """The control: what happened, as text."""
    prefix = [] if attack.control == "root" else list(world.prefix)
    if attack.control == "namespace":
        prefix += NAMESPACE
        if world.mode == "user":
            prefix += ["--user", "--map-root-user"]
    ours, theirs = socket.socketpair()
    os.dup2(theirs.fileno(), 3)
    theirs.close()
    process = subprocess.Popen(
        prefix + PYTHON + [HERE + "/outside.py"] +
        [world.program(attack, i, False) for i in range(len(attack.parts))],
        env=world.env, pass_fds=(3,), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.dup2(world.null, 3)
    reader = Reader(ours)
    line = last_line(process, 1 if "ignores" in attack.outside else 20)
    if line is None:
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        text = ("ignores SIGTERM" if process.poll() is None
                else "ended by SIGTERM")
        process.kill()
    elif line.startswith("{"):
        text = describe({"value": json.loads(line)}).replace(
            "ESCAPED", "value escaped", 1)
    time.sleep(0.02 if "reader" in attack.outside else 0)
    reader.over = True
    process.stdin.close()
    errors = process.stderr.read().decode(errors="replace")
    code = process.wait()
    if line is not None and not line.startswith("{"):
        text = f"exit {code}" if code >= 0 else f"signal {-code}"
        if code == 1:
            text += " " + errors[-300:]
    reader.join(2)
    ours.close()
    process.stdout.close()
    process.stderr.close()
    if "reader" not in attack.outside:
        return text
    return text + "".join(f" | reader {x}" for x in sorted(reader.seen))


def describe(result):
    """A result as the line that `inside` is matched with."""
    error = result.get("error")
    if error:
        return f"{error['kind']}: {error['message']}"
    value = result.get("value")
    if isinstance(value, dict) and "escaped" in value:
        return (f"{'ESCAPED' if value['escaped'] else 'refused'} "
                f"{value['detail']}")
    return "value " + json.dumps(value)


class Host:
    """One runtime for all attacks of a mode."""

    def __init__(self, world, bin_, isolation, layers):
        self.world, self.opened = world, 0
        self.process = subprocess.Popen(
            world.prefix + [bin_ + "/escape-host", isolation, bin_ +
                            "/capsid-guest-python", "python"] +
            ([layers] if layers else []),
            env=world.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.normal = world.folder + "/normal.py"
        with open(self.normal, "w", encoding="utf-8") as file:
            file.write(NORMAL)

    def run(self, path):
        self.process.stdin.write(path.encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the host died of {path}: "
                             f"{self.process.wait()}")
        answer = json.loads(line)
        self.opened = answer.get("open", 0)
        return answer

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(20)
        self.process.stdout.close()
        return code


def run_inside(host, attack):
    """What happened, and all that is wrong with it."""
    world, wrong = host.world, []
    before = world.state()
    for part in range(len(attack.parts)):
        answer = host.run(world.program(attack, part, True))
    raw = json.dumps(answer)
    if "failed" in answer:
        return "host failed: " + answer["failed"], ["the host failed"]
    text = describe(answer["result"])
    if not re.fullmatch(attack.inside, text, re.S):
        wrong.append(f"inside: {text!r} is not {attack.inside!r}")
    if attack.calls >= 0 and answer["calls"] != attack.calls:
        wrong.append(f"the host was called {answer['calls']} times")
    if world.canary in raw:
        wrong.append("the secret came out")
    after = world.state()
    if before is None or after != before:
        wrong.append(f"the victim was {before}, is {after}")
    normal = host.run(host.normal).get("result", {}).get("value")
    if normal != [{"a": [1]}, [], 1]:
        wrong.append(f"the next run was not normal: {normal}")
    return text, wrong


def judge_control(world, attack):
    """None: the act was shown; ("skip" or "fail", reason)."""
    if attack.none:
        return "skip", "no control: " + attack.none
    if attack.control == "root" and not world.root:
        return "skip", "the control needs root"
    text = run_outside(world, attack)
    shown = re.fullmatch(attack.outside, text, re.S) and not (
        attack.outside == "value .*" and not text.startswith("value escaped"))
    if shown:
        return None
    if attack.may_refuse and text.startswith("refused"):
        return "skip", (f"refused outside too ({text.split(' ', 1)[1]}): "
                        f"{attack.may_refuse}")
    return "fail", f"outside: {text!r} is not {attack.outside!r}"


def snapshot():
    """All that a run could leave on the machine."""
    def lines(path):
        try:
            with open(path, encoding="utf-8") as file:
                return set(file)
        except OSError:
            return set()

    def names():
        for path in glob.glob("/proc/[0-9]*/comm"):
            for name in lines(path):
                if re.match("capsid-|escape-host|python|runc|crun", name):
                    yield path.split("/")[2], name

    def columns(path, count):
        return {tuple(x.split()[:count]) for x in lines(path)}

    return {
        "processes": set(names()),
        "mounts": columns("/proc/self/mountinfo", 5),
        "cgroups": set(glob.glob("/sys/fs/cgroup/**/*capsid*/",
                                 recursive=True)),
        "files": set(glob.glob("/dev/shm/*")) | set(glob.glob("/tmp/capsid*"))
        | set(glob.glob("/dev/mqueue/*")),
        "shm": columns("/proc/sysvipc/shm", 2),
        "sem": columns("/proc/sysvipc/sem", 2),
        "msg": columns("/proc/sysvipc/msg", 2),
        "unix sockets": {x.split()[-1] for x in lines("/proc/net/unix")
                         if "capsid" in x},
    }


def leaks(before, world, host):
    """What is there now and was not; other suites on the machine may come and
    go, so only what stays for a while counts, and of what has a name only that
    which an attack of this suite would give it."""
    marks = os.path.basename(world.folder), f"-{world.victim.pid}"
    for _ in range(30):
        now = snapshot()
        left = {key: now[key] - before[key] for key in now}
        left["processes"] = {x for x in left["processes"]
                             if is_ours(x[0], world.canary)}
        # a cgroup has the number of its host in its name
        left["cgroups"] = {x for x in left["cgroups"] if f"-{host}-" in x}
        for key in "files", "unix sockets":
            left[key] = {x for x in left[key]
                         if re.search("(%s)(?![0-9])" % "|".join(
                             map(re.escape, marks)), x)}
        left = {key: value for key, value in left.items() if value}
        if not left:
            return {}
        time.sleep(0.1)
    return left


def is_ours(pid, mark):
    """It carries the mark of this suite in its environment, or is a guest
    whose parent is gone."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            if mark.encode() in file.read():
                return True
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            stat = file.read()
        return "(capsid-guest" in stat and stat.rpartition(")")[2].split()[
            1] == "1"
    except OSError:
        return False


def run_mode(mode, options, count):
    paths = sorted(x for x in glob.glob(HERE + "/attacks/*.py")
                   if options.only in x)
    before = snapshot()
    world = World(mode, options.isolation)
    world.null = options.null
    host = Host(world, options.bin, options.isolation, options.layers)
    for _ in range(20):  # the pools of what is made ahead fill up
        first = host.run(host.normal)
    if first.get("result", {}).get("value") != [{"a": [1]}, [], 1]:
        raise SystemExit(f"{mode}: a normal program fails: {first}")
    opened = host.opened

    def report(name, state, detail=""):
        count[state] += 1
        if state != "passed" or options.verbose:
            print(f"{state:8}{mode}: {name}: {detail}", flush=True)

    for path in paths:
        attack = Attack(path, options.isolation)
        start = time.monotonic()
        control = judge_control(world, attack)
        middle = time.monotonic()
        text, wrong = run_inside(host, attack)
        took = f"({middle - start:.2f} s, {time.monotonic() - middle:.2f} s)"
        if control and control[0] == "fail":
            wrong.append(control[1])
        if wrong:
            report(attack.name, "failed", "; ".join(wrong))
        elif control:
            report(attack.name, "skipped",
                   f"{control[1]}; inside {text[:90]!r}, as it must")
        else:
            report(attack.name, "passed", f"{text[:90]!r} {took}")
    grown = host.opened - opened
    report("the host holds no more descriptors than before", "failed"
           if grown > 16 else "passed", f"{opened}, then {host.opened}")
    code = host.close()
    report("the host ends well", "failed" if code else "passed", str(code))
    kept = os.listdir(world.runtime)
    report("the host's directory is empty", "failed" if kept else "passed",
           str(kept))
    world.close()
    left = leaks(before, world, host.process.pid)
    report("nothing is left on the machine", "failed" if left else "passed",
           str(left))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default=HERE + "/../../build/bin")
    parser.add_argument("--isolation", default="process",
                        choices=("process", "container"))
    parser.add_argument("--mode", default="both",
                        choices=("root", "user", "both"))
    parser.add_argument("--only", default="")
    parser.add_argument("--layers", default="", help="as in "
                        "seccomp=off: shows what each layer stops")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    # some controls end by a fault
    resource.setrlimit(resource.RLIMIT_CORE, (
        0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    # descriptor 3 is the attacks'
    options.null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(options.null, 3)
    if options.null == 3:
        options.null = os.dup(3)
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for mode in ("root", "user"):
        if options.mode not in (mode, "both"):
            continue
        if mode == "root" and os.geteuid() != 0:
            print("skipped root: the suite was not started by root")
            count["skipped"] += 1
            continue
        run_mode(mode, options, count)
    print(f"{count['passed']} passed, {count['failed']} failed, "
          f"{count['skipped']} skipped")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
