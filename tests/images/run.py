#!/usr/bin/env python3
"""The images: the same digest twice and another for another time, every blob
what its name says, unpacked by umoci, and a guest inside that passes the kit.

    run.py --build DIR [NAME...]
"""
import argparse
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
# one of each kind; the whole kit is run outside of images
CHECKS = ['boot_ack', 'value', 'throw', 'exit_status', 'log_at_once',
          'out_of_order', 'lossless', 'deep', 'error_class', 'cross',
          'closed_in_call']
passed, failed = 0, 0


def judge(ok, text):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print('%s %s' % ('ok  ' if ok else 'FAIL', text), flush=True)
    return ok


def run(*command, **more):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **more)


def build(options, out, names, epoch='0'):
    done = run(os.path.join(ROOT, 'scripts/images'), '--build', options.build,
               '--out', out, *names,
               env=dict(os.environ, SOURCE_DATE_EPOCH=epoch))
    if not judge(done.returncode == 0, 'scripts/images %s' % ' '.join(names)):
        sys.exit(done.stdout)
    print(done.stdout, end='')


def read(layout, *path):
    with open(os.path.join(layout, *path), encoding='utf-8') as file:
        return json.load(file)


def manifest_of(layout):
    return read(layout, 'index.json')['manifests'][0]['digest']


def blob(layout, digest):
    return read(layout, 'blobs/sha256', digest[7:])


def check_blobs(layout, name):
    folder = os.path.join(layout, 'blobs/sha256')
    for entry in os.listdir(folder):
        with open(os.path.join(folder, entry), 'rb') as file:
            digest = hashlib.file_digest(file, 'sha256').hexdigest()
        if digest != entry:
            return judge(False, '%s: the blob %s is %s' %
                         (name, entry, digest))
    return judge(True, '%s: every blob is what its name says' % name)


def check_server(layout, scratch):
    """Process 1 of a container that runc makes, of an ordinary user, with the
    whole sandbox inside it."""
    bundle = os.path.join(scratch, 'unpacked-server')
    run('umoci', 'unpack', '--image', layout + ':latest', bundle)
    path = os.path.join(bundle, 'config.json')
    config = read(path)
    config['process']['terminal'] = False
    config['linux'].pop('resources', None)
    config['linux']['namespaces'] = [
        n for n in config['linux']['namespaces'] if n['type'] != 'network']
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    config['process']['args'] += ['--port', str(port)]
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(config, file)
    name = 'capsid-images-%d' % os.getpid()
    server = subprocess.Popen(['runc', 'run', '-b', bundle, name],
                              stderr=subprocess.DEVNULL)
    try:
        ready = ''
        for _ in range(100):
            ready = run('curl', '-s', '-m', '3',
                        'http://127.0.0.1:%d/ready' % port).stdout
            if ready == 'ready\n':
                break
            time.sleep(0.1)
        judge(ready == 'ready\n', 'server: it is ready in a container')
        began = time.monotonic()
        run('runc', 'kill', name, 'TERM')
        judge(server.wait(10) == 0 and time.monotonic() - began < 2,
              'server: SIGTERM ends it at once')
    finally:
        run('runc', 'delete', '-f', name)


def check_notices(root, build, name):
    """Who wrote what is in it: every Debian package of which it has a file,
    and what is in our executables."""
    path = os.path.join(root, 'usr/share/doc/capsid/THIRD-PARTY-NOTICES')
    if not judge(os.path.exists(path), '%s: it has notices' % name):
        return
    with open(path, encoding='utf-8') as file:
        named = set(line.split()[0] for line in file
                    if line.endswith(' (Debian)\n'))
    paths = [os.path.join(folder, entry)[len(root):]
             for folder, _, entries in os.walk(root) for entry in entries
             if not os.path.islink(os.path.join(folder, entry))]
    paths += [path[4:] for path in paths if path.startswith('/usr/')]
    found = run('dpkg-query', '--search', *paths,
                env=dict(os.environ, LC_ALL='C')).stdout
    owners = set(line.split(':')[0] for line in found.split('\n')
                 if re.match(r'[a-z0-9.+-]+(:\w+)?: /', line))
    judge(owners <= named and (owners or name == 'minimal'),
          '%s: they name %d packages of Debian%s' %
          (name, len(owners), ''.join(sorted(', not ' + owner for owner in
                                             owners - named))))
    if name != 'minimal':
        return
    with open(os.path.join(build, 'guests/node/capsid-guest-node'),
              encoding='utf-8') as file:
        node = file.readline()[2:].strip()
    done = run(node, os.path.join(ROOT, 'tests/notices/check.mjs'), build,
               path, 'bin/capsid-guest')
    judge(done.returncode == 0, name + ': ' + done.stdout.strip())


def check_inside(layout, name, scratch, build):
    bundle = os.path.join(scratch, 'unpacked-' + name)
    done = run('umoci', 'unpack', '--image', layout + ':latest', bundle)
    if not judge(done.returncode == 0, '%s: umoci unpacks it' % name):
        print(done.stdout)
        return
    config = blob(layout, blob(layout, manifest_of(layout))['config']
                  ['digest'])['config']
    root = os.path.join(bundle, 'rootfs')
    check_notices(root, build, name)
    only = [word for check in CHECKS for word in ('--only', check)]
    done = run(sys.executable, os.path.join(ROOT, 'tests/guest-kit/run.py'),
               *only, '--', 'chroot', root, *config['Entrypoint'])
    if not judge(done.returncode == 0, '%s: its guest passes the kit' % name):
        print(done.stdout)
    print(done.stdout.split('\n')[-2])
    # … and it is the one inside: without it nothing passes
    os.unlink(root + config['Entrypoint'][0])
    done = run(sys.executable, os.path.join(ROOT, 'tests/guest-kit/run.py'),
               '--only', 'boot_ack', '--', 'chroot', root,
               *config['Entrypoint'])
    judge(done.returncode == 1, '%s: without its guest it does not' % name)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--build', required=True)
    parser.add_argument('names', nargs='*', default=['minimal', 'python'])
    options = parser.parse_args()
    scratch = tempfile.mkdtemp(prefix='capsid-images-')
    os.chmod(scratch, 0o755)
    try:
        one, two = (os.path.join(scratch, name) for name in ('one', 'two'))
        build(options, one, options.names)
        build(options, two, options.names)
        for name in options.names:
            layout = os.path.join(one, name)
            judge(manifest_of(layout) == manifest_of(os.path.join(two, name)),
                  '%s: the same digest twice' % name)
            check_blobs(layout, name)
            if name == 'server':
                check_server(layout, scratch)
            else:
                check_inside(layout, name, scratch, options.build)
        build(options, two, options.names[:1], '1')
        judge(manifest_of(os.path.join(one, options.names[0])) !=
              manifest_of(os.path.join(two, options.names[0])),
              '%s: another time, another digest' % options.names[0])
    finally:
        shutil.rmtree(scratch)
    print('%d passed, %d failed' % (passed, failed))
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
