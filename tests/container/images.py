#!/usr/bin/env python3
"""Images that want something of the machine: its devices, its disk, its files,
its patience. Every attack is shown to work first: with umoci alone, in a
chroot, or in a container as it was before the measure that stops it now.

    images.py --bin DIR [-k TEXT]

Root is needed: an ordinary user can make no device.
"""
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

import layout
from layout import Layer

BIN = ''
SCRATCH = ''
DOCTOR = WORKS = ''
SKIP = 77
# Devices that every machine has: 7:0 is a disk (the first loop), 1:3 is null.
NODES = [('disk', 'block', (7, 0)), ('null', 'char', (1, 3))]
CAPABILITY = '\x01\0\0\x02\0\x04\0\0' + '\0' * 12  # net_raw, in effect
USER = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
RUNTIMES = ['runc', 'crun']


def run(*command, **more):
    more.setdefault('timeout', 120)
    return subprocess.run(command, text=True, input=more.pop('input', ''),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, **more)


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def in_own_mounts(script, *words):
    """A shell whose mounts nobody else sees: words are "$@"."""
    return ['unshare', '--mount', 'sh', '-ec', script + '\nexec "$@"', 'sh',
            *words]


def with_unified(*words):
    """crun refuses a machine with cgroups of both versions: it looks at what
    is mounted there."""
    return in_own_mounts('mount -t cgroup2 none /sys/fs/cgroup', *words)


def with_disk(path, options, *words):
    return in_own_mounts('mount -t tmpfs -o mode=700,%s tmpfs %s'
                         % (options, path), *words)


class Case(unittest.TestCase):
    """A directory of its own, with a cache and a place for the state."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='images-', dir=SCRATCH)
        os.chmod(self.dir, 0o755)
        self.cache = os.path.join(self.dir, 'cache')
        os.mkdir(self.cache, 0o700)
        self.env = dict(os.environ, XDG_CACHE_HOME=self.cache,
                        XDG_RUNTIME_DIR=os.path.join(self.dir, 'run'))

    def tearDown(self):
        # not shutil's: some of these directories are too deep for it
        run('rm', '-rf', self.dir)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def command(self, image, *more, language='opens'):
        if '--oci-runtime' not in more:
            more += ('--oci-runtime', WORKS)
        return [os.path.join(BIN, 'capsid'), 'run', '--isolation',
                'container', '--language', language, '--image', image, *more,
                '-']

    def capsid(self, image, *more, language='opens', **settings):
        """What it prints: never a value, the guest is none."""
        done = run(*self.command(image, *more, language=language),
                   env=dict(self.env, **settings))
        self.assertEqual((done.returncode, done.stdout), (125, ''),
                         done.stderr)
        return done.stderr

    def guest(self, layer, name='usr/bin/capsid-guest'):
        for folder in ('usr', 'usr/bin'):
            layer.add(folder, 'folder', 0o755)
        return layer.add(name, mode=0o755, data=read(
            os.path.join(BIN, 'container-guest')))

    def layout(self, name, *layers, **config):
        self.digest = layout.write(self.path(name), layers, **config)
        return self.path(name)

    def alone(self, image, *before):
        """umoci, as it is."""
        root = self.path('alone')
        done = run(*before, 'umoci', 'raw', 'unpack', '--image',
                   image + ':latest', root)
        return root, done

    def kept(self):
        return os.path.join(self.cache, 'capsid',
                            'stripped-1-sha256-' + self.digest, 'rootfs')

    def assert_nothing_kept(self):
        folder = os.path.join(self.cache, 'capsid')
        self.assertEqual(os.listdir(folder) if os.path.exists(folder) else [],
                         [])

    def opened(self, root, *paths):
        """Of these, what nobody may open, in a chroot."""
        done = run('chroot', '--userspec=65534:65534', root,
                   '/usr/bin/capsid-guest', *paths,
                   env=dict(os.environ, CAPSID_LANGUAGE='opens'))
        return done.stderr.split()

    def directory(self):
        root = self.path('root')
        for folder in ('proc', 'dev', 'tmp', 'usr/bin', 'closed'):
            os.makedirs(os.path.join(root, folder))
        shutil.copy(os.path.join(BIN, 'container-guest'),
                    os.path.join(root, 'usr/bin/capsid-guest'))
        kinds = {'block': stat.S_IFBLK, 'char': stat.S_IFCHR}
        for name, kind, device in NODES:
            path = os.path.join(root, name)
            os.mknod(path, kinds[kind] | 0o666, os.makedev(*device))
            os.chmod(path, 0o666)
        return root


class Devices(Case):
    """An image's device nodes are not the host's devices."""

    def attack(self):
        layer = self.guest(Layer())
        for name, kind, device in NODES:
            layer.add(name, kind, 0o666, device=device)
        layer.add('again', 'hard', to='disk')
        layer.add('open', 'folder', 0o755)
        layer.add('open/disk', 'block', 0o666, device=(7, 0))
        layer.add('closed', 'folder', 0)
        layer.add('closed/disk', 'block', 0o666, device=(7, 0))
        layer.add('a\nname', 'block', 0o666, device=(7, 0))
        layer.add('pipe', 'fifo', 0o666)
        layer.add('out', 'link', to='/')
        layer.add('out/led', 'block', 0o666, device=(7, 0))
        return layer

    def test_none_is_left_of_a_layout(self):
        paths = ['/disk', '/null', '/again', '/open/disk', '/a\nname',
                 '/led', '/out/disk']
        image = self.layout('image', self.attack(),
                            args=['/usr/bin/capsid-guest', *paths[:4]])
        # the control: umoci makes them, and nobody may open them
        root, done = self.alone(image)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.opened(root, *paths), re.findall(
            r'\S+', ''.join(path + '=opened ' for path in paths)))
        self.assertTrue(stat.S_ISBLK(
            os.lstat(os.path.join(root, 'closed/disk')).st_mode))
        self.assertIn('/disk=ENOENT /null=ENOENT /again=ENOENT '
                      '/open/disk=ENOENT', self.capsid(image))
        kinds = [stat.S_IFMT(os.lstat(os.path.join(folder, name)).st_mode)
                 for folder, folders, files in os.walk(self.kept())
                 for name in folders + files]
        self.assertLessEqual(set(kinds), {stat.S_IFREG, stat.S_IFDIR,
                                          stat.S_IFLNK})
        self.assertTrue(os.path.islink(os.path.join(self.kept(), 'out')))
        self.assertEqual(os.stat(os.path.join(self.kept(), 'closed'))
                         .st_mode & 0o7777, 0)
        self.assertFalse(os.path.lexists('/led'))

    def wrapper(self, runtime, without):
        """The runtime, in a container without one of the measures or without
        both: as it was."""
        path = self.path('%s-%s' % (runtime, '-'.join(without) or 'all'))
        with open(path, 'w') as file:
            file.write('''#!/bin/sh -e
for i; do case "$i" in */capsid-*/capsid-*)
	test ! -f "$i/config.json" || bundle=$i;; esac
done
if test -n "$bundle"; then
	root=$(sed 's/.*"root":{"path":"\\([^"]*\\)".*/\\1/' "$bundle/config.json")
	case '%s' in *devices*)
		sed -i 's/"devices":\\[[^]]*\\]/"devices":[]/' "$bundle/config.json"
	esac
	case '%s' in *nodev*) mount -o remount,bind,dev,ro "$root";; esac
fi
exec %s "$@"
''' % (without, without, shutil.which(runtime)))
        os.chmod(path, 0o755)
        return path

    def tried(self, root, runtime, without=(), before=()):
        command = self.command(root, '--oci-runtime',
                               self.wrapper(runtime, without))
        if runtime == 'crun':
            command = with_unified(*before, *command)
        return run(*before, *command, env=self.env).stderr

    def test_a_directory_gives_none(self):
        root = self.directory()
        # the control: nobody may open them
        self.assertEqual(self.opened(root, '/disk', '/null'),
                         ['/disk=opened', '/null=opened'])
        for runtime in RUNTIMES:
            with self.subTest(runtime=runtime):
                said = self.tried(root, runtime)
                self.assertIn('/disk=EACCES /null=EACCES', said)
                # nodev holds by itself
                said = self.tried(root, runtime, ['devices'])
                self.assertIn('/disk=EACCES /null=EACCES', said)
                # the control: with neither it is the host's null, and with
                # crun its disk
                said = self.tried(root, runtime, ['nodev', 'devices'])
                self.assertIn('/null=opened', said)
                if runtime == 'crun':
                    self.assertIn('/disk=opened', said)

    def test_the_cgroup_denies_them_by_itself(self):
        if 'with limits' not in DOCTOR:
            self.skipTest('no cgroup can be made here')
        said = self.tried(self.directory(), 'runc', ['nodev'])
        self.assertIn('/disk=EPERM /null=opened', said)

    def test_an_ordinary_user_gets_none(self):
        root = self.directory()
        os.chown(self.cache, 65534, 65534)
        env = dict(self.env, XDG_RUNTIME_DIR=self.cache)
        for runtime in RUNTIMES:
            command = [*USER, *self.command(root, '--oci-runtime', runtime)]
            if runtime == 'crun':
                command = with_unified(*command)
            self.assertIn('/disk=EACCES /null=EACCES',
                          run(*command, env=env).stderr)

    def test_a_user_without_namespaces_is_told(self):
        root = self.directory()
        os.chown(self.cache, 65534, 65534)
        done = run(*USER, 'unshare', '--user', '--map-user=65534',
                   '--map-group=65534', '--keep-caps', 'sh', '-c',
                   'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"',
                   'sh', *self.command(root),
                   env=dict(self.env, XDG_RUNTIME_DIR=self.cache))
        self.assertIn('is a directory, which may hold device nodes',
                      done.stderr)

    def test_a_runtime_that_may_not_deny_them_is_used(self):
        """crun without the right to load a program of version 2."""
        fake = self.path('crun-without-bpf')
        with open(fake, 'w') as file:
            file.write('''#!/bin/sh
log= bundle=
for i; do
	case "$last" in --log) log=$i;; --bundle) bundle=$i;; esac
	last=$i
done
if test -n "$bundle" && grep -q '"allow":false' "$bundle/config.json"; then
	echo '{"msg":"bpf create: Operation not permitted"}' >"$log"
	exit 1
fi
test -z "$bundle" || grep -c '"pids"' "$bundle/config.json" >>%s
exec %s "$@"
''' % (self.path('limited'), shutil.which('runc')))
        os.chmod(fake, 0o755)
        self.assertIn('/disk=EACCES /null=EACCES', self.capsid(
            self.directory(), '--oci-runtime', fake))
        # its limits are as they were
        if 'with limits' in DOCTOR:
            self.assertEqual(read(self.path('limited')), b'1\n')


class Rights(Case):
    """No file of an image gives a right to who executes it."""

    def test_none_is_left(self):
        layer = self.guest(Layer())
        layer.add('suid', mode=0o4755, data=b'x')
        layer.add('sgid', mode=0o2755, data=b'x')
        layer.add('again', 'hard', to='suid')
        layer.add('shared', 'folder', 0o2775)
        layer.add('sticky', 'folder', 0o1777)
        layer.add('able', mode=0o755, data=b'x', attributes={
            'security.capability': CAPABILITY, 'trusted.any': 'x',
            'user.any': 'x'})
        image = self.layout('image', layer)
        names = ['suid', 'sgid', 'again', 'shared', 'sticky', 'able']
        modes = [0o4755, 0o2755, 0o4755, 0o2775, 0o1777, 0o755]

        def found(root):
            return ([os.stat(os.path.join(root, name)).st_mode & 0o7777
                     for name in names],
                    os.listxattr(os.path.join(root, 'able')))
        # the control
        root, done = self.alone(image)
        self.assertEqual(done.returncode, 0, done.stderr)
        got, attributes = found(root)
        self.assertEqual(got, modes)
        self.assertLess({'security.capability', 'trusted.any', 'user.any'},
                        set(attributes) | {'the others'})
        self.capsid(image)
        got, attributes = found(self.kept())
        self.assertEqual(got, [mode & 0o1777 for mode in modes])
        self.assertEqual([name for name in attributes
                          if name != 'security.selinux'], ['user.any'])

    def test_an_ordinary_users_image_is_stripped(self):
        layer = self.guest(Layer())
        layer.add('closed', 'folder', 0)
        layer.add('closed/suid', mode=0o4755, data=b'x')
        image = self.layout('image', layer)
        os.chown(self.cache, 65534, 65534)
        done = run(*USER, *self.command(image),
                   env=dict(self.env, XDG_RUNTIME_DIR=self.cache))
        self.assertIn('/disk=ENOENT', done.stderr)
        self.assertEqual(os.stat(os.path.join(self.kept(), 'closed'))
                         .st_mode & 0o7777, 0)
        self.assertEqual(os.stat(os.path.join(self.kept(), 'closed/suid'))
                         .st_mode & 0o7777, 0o755)

    def test_what_an_earlier_version_kept_is_not_used(self):
        image = self.layout('image', self.guest(Layer()))
        old = os.path.join(self.cache, 'capsid', 'sha256-' + self.digest)
        for folder in ('proc', 'dev', 'tmp'):
            os.makedirs(os.path.join(old, 'rootfs', folder))
        os.chmod(os.path.dirname(old), 0o700)
        with open(os.path.join(old, 'config.json'), 'w') as file:
            file.write('{"process":{"args":["/old"],"cwd":"/"}}')
        self.assertIn('/disk=ENOENT', self.capsid(image))


class Size(Case):
    """An image costs no more than is allowed, and not for a moment: the disk
    of these tests would be full at once."""

    def limited(self, image, options, **settings):
        done = run(*with_disk(self.cache, options, *self.command(image)),
                   env=dict(self.env, **settings))
        self.assertEqual((done.returncode, done.stdout), (125, ''))
        return done.stderr

    def fills(self, image, options):
        """The control: umoci alone is stopped by the disk."""
        done = run(*with_disk(self.cache, options, 'umoci', 'raw', 'unpack',
                              '--image', image + ':latest',
                              os.path.join(self.cache, 'alone')))
        self.assertIn('no space left on device', done.stderr)

    def test_bytes(self):
        image = self.layout('image', self.guest(Layer())
                            .add('zeros', data=100 << 20))
        self.fills(image, 'size=28m')
        self.assertIn('it holds more than 20 MiB: if you trust it, set '
                      'CAPSID_IMAGE_MB to more',
                      self.limited(image, 'size=28m', CAPSID_IMAGE_MB='20'))
        self.assert_nothing_kept()
        # the control: with more it is an image
        self.assertIn('/disk=ENOENT',
                      self.limited(image, 'size=200m', CAPSID_IMAGE_MB='120'))

    def test_bytes_of_many_layers(self):
        layers = [Layer().add('zeros', data=9 << 20) for _ in range(4)]
        image = self.layout('image', self.guest(Layer()), *layers)
        self.assertIn('more than 20 MiB',
                      self.limited(image, 'size=28m', CAPSID_IMAGE_MB='20'))

    def test_bytes_that_are_not_there(self):
        image = self.layout('image', self.guest(Layer())
                            .sparse('sparse', 4 << 30))
        self.fills(image, 'size=28m')
        self.assertIn('more than 20 MiB',
                      self.limited(image, 'size=28m', CAPSID_IMAGE_MB='20'))

    def test_attributes_are_bytes(self):
        layer = self.guest(Layer())
        for number in range(400):
            layer.add('file%d' % number, attributes={'user.a': 'x' * 3000})
        image = self.layout('image', layer)
        # 400 files have a block each: 1.6 MB; and their attributes 1.2 MB
        self.assertIn('more than 3 MiB', self.capsid(
            image, CAPSID_IMAGE_MB='3'))
        self.assertIn('/disk=ENOENT', self.capsid(
            image, CAPSID_IMAGE_MB='4'))

    def files(self, count):
        layer = self.guest(Layer())
        for number in range(count):
            name = 'file%d' % number
            if number % 4 == 3:
                layer.add(name, 'folder', 0o755)
            elif number % 4 == 2:
                layer.add(name, 'link', to='x')
            elif number % 4 == 1:
                layer.add(name, 'hard', to='usr/bin/capsid-guest')
            else:
                layer.add(name)
        return self.layout('image', layer)

    def test_files(self):
        image = self.files(3000)
        self.fills(image, 'nr_inodes=2000')
        self.assertIn('it holds more than 1000 files: if you trust it, set '
                      'CAPSID_IMAGE_FILES to more',
                      self.limited(image, 'nr_inodes=1200',
                                   CAPSID_IMAGE_FILES='1000'))
        # the control: 3,000, the guest and its folders, what umoci and we make
        self.assertIn('/disk=ENOENT',
                      self.capsid(image, CAPSID_IMAGE_FILES='3100'))

    def test_a_disk_that_is_too_small(self):
        image = self.layout('image', self.guest(Layer())
                            .add('zeros', data=100 << 20))
        for options in ('size=28m', 'nr_inodes=20'):
            if options != 'size=28m':
                image = self.files(100)
            said = self.limited(image, options)
            self.assertRegex(said, r'more than the disk has to give: \d+ MiB '
                             r'and \d+ files are free in %s/capsid\. Free '
                             'some, or set XDG_CACHE_HOME' % self.cache)
            run('rm', '-rf', self.path('image'))

    def test_a_limit_is_a_number(self):
        image = self.layout('image', self.guest(Layer()))
        for name in ('CAPSID_IMAGE_MB', 'CAPSID_IMAGE_FILES'):
            for value in ('', '0', '-1', '1e3', '9' * 30):
                self.assertIn('%s must be a whole number from 1 to' % name,
                              self.capsid(image, **{name: value}))


class Shapes(Case):
    """Trees that are hard to walk, or lead elsewhere."""

    def test_as_deep_as_a_path_can_be(self):
        layer = self.guest(Layer())
        layer.add('a/' * 1900 + 'disk', 'block', 0o666, device=(7, 0))
        layer.add('a/' * 1900 + 'suid', mode=0o4755)
        image = self.layout('image', layer)
        root, done = self.alone(image)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('/disk=ENOENT', self.capsid(image))
        at = os.open(self.kept(), os.O_RDONLY)
        for _ in range(1900):
            at, before = os.open('a', os.O_RDONLY, dir_fd=at), at
            os.close(before)
        self.assertEqual(os.listdir(at), ['suid'])
        self.assertEqual(os.stat('suid', dir_fd=at).st_mode & 0o7777, 0o755)
        os.close(at)

    def test_deeper(self):
        image = self.layout('image', self.guest(Layer())
                            .add('a/' * 10000 + 'disk', 'block', 0o666,
                                 device=(7, 0)))
        self.assertIn('cannot be unpacked: ', self.capsid(image))
        self.assert_nothing_kept()

    def test_deeper_things_are_removed(self):
        """What is left of an unpacking, by whatever tool: 10,000 deep, closed
        to its owner."""
        image = self.layout('image', self.guest(Layer()))
        left = os.path.join(self.cache, 'capsid', 'partial-left')
        os.makedirs(left)
        os.chmod(os.path.dirname(left), 0o700)
        at = os.open(left, os.O_RDONLY)
        for _ in range(10000):
            os.mkdir('a', 0o700, dir_fd=at)
            at, before = os.open('a', os.O_RDONLY, dir_fd=at), at
            os.close(before)
        os.close(os.open('file', os.O_CREAT, dir_fd=at))
        os.chmod(at, 0)
        os.close(at)
        os.symlink(self.dir, os.path.join(left, 'out'))
        self.assertIn('/disk=ENOENT', self.capsid(image))
        self.assertEqual(os.listdir(os.path.dirname(left)),
                         ['stripped-1-sha256-' + self.digest])
        self.assertTrue(os.path.isdir(self.path('image')))

    def test_whiteouts(self):
        first = self.guest(Layer()).add('gone', data=b'x')
        first.add('folder', 'folder', 0o755).add('folder/gone', data=b'x')
        second = Layer().add('.wh.gone')
        second.add('folder/.wh..wh..opq').add('folder/new', data=b'x')
        self.capsid(self.layout('image', first, second))
        self.assertFalse(os.path.exists(os.path.join(self.kept(), 'gone')))
        self.assertEqual(os.listdir(os.path.join(self.kept(), 'folder')),
                         ['new'])


class Layouts(Case):
    """Files of a layout that are none, or larger than they say."""

    def setUp(self):
        super().setUp()
        self.image = self.layout('image', self.guest(Layer()))
        self.blobs = self.path('image/blobs/sha256')

    def blob_of(self, key):
        manifest = layout.json.loads(read(os.path.join(self.blobs,
                                                       self.digest)))
        found = manifest[key]
        return os.path.join(self.blobs, (found[0] if key == 'layers'
                                         else found)['digest'][7:])

    def each(self):
        return [('index', self.path('image/index.json')),
                ('manifest', os.path.join(self.blobs, self.digest)),
                ('config', self.blob_of('config')),
                ('layer', self.blob_of('layers'))]

    def replaced(self, replace, pattern):
        for name, path in self.each():
            with self.subTest(name=name):
                os.rename(path, path + '.kept')
                try:
                    replace(path)
                    self.assertRegex(self.capsid(self.image), pattern)
                finally:
                    os.remove(path)
                    os.rename(path + '.kept', path)
        # the control: it was that file
        self.assertIn('/disk=ENOENT', self.capsid(self.image))

    def test_a_pipe_is_not_waited_for(self):
        # the control: umoci waits
        path = self.blob_of('layers')
        os.rename(path, path + '.kept')
        os.mkfifo(path)
        with self.assertRaises(subprocess.TimeoutExpired):
            run('umoci', 'raw', 'unpack', '--image', self.image + ':latest',
                self.path('alone'), timeout=2)
        os.remove(path)
        os.rename(path + '.kept', path)
        self.replaced(os.mkfifo, r'is not a regular file')

    def test_a_device_is_not_read(self):
        self.replaced(lambda path: os.symlink('/dev/zero', path),
                      r'is not a regular file')

    def test_a_link_to_a_blob_is_one(self):
        for _, path in self.each()[1:]:
            os.rename(path, path + '.kept')
            os.symlink(path + '.kept', path)
        self.assertIn('/disk=ENOENT', self.capsid(self.image))

    def test_what_is_too_large_is_not_read(self):
        def grow(path):
            with open(path, 'wb') as file:
                file.truncate(1 << 40)
        self.replaced(grow, r'is too large|bytes and should have')

    def test_a_text_may_not_say_that_it_is_large(self):
        manifest = layout.json.loads(
            read(os.path.join(self.blobs, self.digest)))
        padded = b' ' * (5 << 20) + read(self.blob_of('config'))
        manifest['config'].update(layout.put(self.image, padded))
        layout.index(self.image, layout.put_json(self.image, 'manifest',
                                                 manifest))
        self.assertRegex(self.capsid(self.image), r'blobs/\S+ is too large')

    def nested(self, depth, twice=False):
        manifest = {'digest': 'sha256:' + self.digest,
                    'size': os.path.getsize(os.path.join(
                        self.blobs, self.digest)),
                    'mediaType': layout.MEDIA + 'manifest.v1+json'}
        for _ in range(depth):
            manifest = layout.put_json(self.image, 'index', {
                'schemaVersion': 2,
                'manifests': [manifest] * (2 if twice else 1)})
        layout.index(self.image, manifest)
        self.digest = manifest['digest'][7:]
        return self.capsid(self.image)

    def test_an_index_of_an_index(self):
        self.assertIn('/disk=ENOENT', self.nested(1))

    def test_an_index_of_many(self):
        self.assertIn('nested too deep', self.nested(9))

    def test_an_index_of_platforms(self):
        self.assertIn('is for several platforms', self.nested(1, True))


class Configurations(Case):
    """What an image says of its process."""

    def where(self, cwd, layer=None):
        image = self.layout('image', layer or self.guest(Layer()), cwd=cwd)
        said = self.capsid(image, language='is-where')
        run('rm', '-rf', image)
        return said

    def test_its_directory_is_within_it(self):
        layer = self.guest(Layer()).add('app', 'link', to='/usr')
        self.assertIn('boot-ack: /usr/bin;', self.where('/app/bin', layer))
        for name, to in (('direct', None), ('link', '/proc/self/fd/7'),
                         ('relative', '../../proc/self/fd/7'),
                         ('device', '/dev/fd/7')):
            layer = self.guest(Layer())
            for folder in ('proc', 'proc/self', 'proc/self/fd',
                           'proc/self/fd/7', 'dev', 'dev/fd', 'dev/fd/7'):
                layer.add(folder, 'folder', 0o755)
            if to is not None:
                layer.add('app', 'link', to=to)
            with self.subTest(name=name):
                self.assertIn('is no directory of its own', self.where(
                    '/app' if to else '/proc/self/fd/7', layer))
        self.assertIn('is no directory of its own', self.where('/missing'))

    def test_a_text_ends_where_it_ends(self):
        image = self.layout('image', self.guest(Layer()),
                            args=['/usr/bin/capsid-guest', 'a\0b'])
        self.assertIn('has a damaged configuration', self.capsid(image))

    def test_users_are_not_waited_for(self):
        layer = self.guest(Layer()).add('etc', 'folder', 0o755)
        layer.add('etc/passwd', 'fifo').add('etc/group', 'fifo')
        image = self.layout('image', layer, user='0')
        # the control: umoci waits for the pipe
        with self.assertRaises(subprocess.TimeoutExpired):
            run('umoci', 'unpack', '--image', image + ':latest',
                self.path('bundle'), timeout=4)
        self.assertIn('/disk=ENOENT', self.capsid(image))


def main():
    global BIN, SCRATCH, DOCTOR, WORKS, RUNTIMES
    arguments = sys.argv[1:]
    if arguments[:1] != ['--bin']:
        sys.exit(__doc__)
    BIN = os.path.abspath(arguments[1])
    if os.geteuid() != 0:
        print('SKIPPED: only root can make devices')
        sys.exit(SKIP)
    DOCTOR = run(os.path.join(BIN, 'capsid'), 'doctor', '--isolation',
                 'container', '--language', 'javascript').stdout
    found = re.search(r'^ok +(\S+)', DOCTOR, re.M)
    if not found:
        print('SKIPPED: this machine runs no containers\n' + DOCTOR)
        sys.exit(SKIP)
    WORKS = found.group(1)
    if run('umoci', '--version').returncode != 0:
        print('SKIPPED: umoci is not installed')
        sys.exit(SKIP)
    RUNTIMES = [name for name in RUNTIMES if shutil.which(name)]
    SCRATCH = tempfile.mkdtemp(prefix='capsid-images-')
    os.chmod(SCRATCH, 0o755)
    try:
        unittest.main(argv=[sys.argv[0], '-v', *arguments[2:]])
    finally:
        run('rm', '-rf', SCRATCH)


if __name__ == '__main__':
    main()
