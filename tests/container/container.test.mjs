/*
 * The container isolation from outside: how runs end, what is left on the
 * machine, what is said where it cannot work. Everything is in directories of
 * the test's own, so that what is in them afterwards was left by it.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'

const bin = process.env.CAPSID_BIN ?? new URL('../../build/bin', import.meta.url).pathname
const root = process.getuid() === 0
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'container-test-'))
fs.chmodSync(dir, 0o755)
const env = { ...process.env, XDG_RUNTIME_DIR: `${dir}/run`, XDG_CACHE_HOME: `${dir}/cache` }
after(() => fs.rmSync(dir, { recursive: true, force: true }))

const command = (name, args, options = {}) =>
	spawnSync(path.join(bin, name), args, {
		encoding: 'utf8',
		timeout: 60000,
		...options,
		env: { ...env, ...options.env }
	})
const capsid = (args, options) => command('capsid', args, options)
const program = (text, args = [], options = {}) =>
	capsid(['run', '--isolation', 'container', ...args, '-'], { input: text, ...options })

/* What the machine lacks is a skip with its reason, never a pass. */
const doctor = capsid(['doctor', '--isolation', 'container', '--language', 'javascript'])
const works = /^ok +(\S+)/m.exec(doctor.stdout)?.[1]
const limits = doctor.stdout.includes('with limits')
const skip = works ? false : `no OCI runtime works here: ${doctor.stdout}`
const needsLimits = skip || (limits ? false : 'no cgroup can be made here')
const needsRoot = skip || (root ? false : 'only root can do what this test does')
const isStatic = spawnSync('ldd', [path.join(bin, 'capsid-guest')], {
	encoding: 'utf8'
}).stdout.includes('statically')
const needsUmoci =
	skip ||
	(spawnSync('umoci', ['--version']).status !== 0
		? 'umoci is not installed'
		: isStatic
			? false
			: 'this guest needs shared libraries, which the test image lacks')
if (skip) console.log(`SKIPPED container: ${skip}`)

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/* All that a keeper may leave behind. */
function left(keepers) {
	const state = fs.existsSync(`${dir}/run/capsid`) ? fs.readdirSync(`${dir}/run/capsid`) : []
	const mounts = fs
		.readFileSync('/proc/self/mountinfo', 'utf8')
		.split('\n')
		.filter((line) => line.includes(dir))
	const groups = spawnSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', 'capsid-*'], {
		encoding: 'utf8'
	})
		.stdout.split('\n')
		.filter((line) => keepers.some((keeper) => line.includes(`-${keeper}-`)))
	const processes = fs
		.readdirSync('/proc')
		.filter((pid) => /^\d+$/.test(pid))
		.filter((pid) => {
			try {
				const line = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')
				const parent = / \d+ (\d+)/
				return (
					(line.includes('capsid-oci') && keepers.includes(pid)) ||
					(line.includes('/usr/bin/capsid-guest') &&
						keepers.includes(
							parent.exec(
								fs.readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/, ' 0')
							)?.[1]
						))
				)
			} catch {
				return false
			}
		})
	return { state, mounts, groups, processes }
}
const nothing = { state: [], mounts: [], groups: [], processes: [] }

/* The keepers that are at work: their names are in the directory. */
const keepers = () =>
	fs.existsSync(`${dir}/run/capsid`)
		? fs
				.readdirSync(`${dir}/run/capsid`)
				.map((name) => /^capsid-\d+-(\d+)-/.exec(name)?.[1])
				.filter(Boolean)
		: []

/* A host that has been told to hang, once all of its runs do. */
async function hanging(count, options = {}) {
	const host = spawn(path.join(bin, 'container-host'), ['hang', `${count}`], {
		env: { ...env, ...options }
	})
	await new Promise((resolve, reject) => {
		host.stdout.on('data', (data) => `${data}`.includes('up') && resolve())
		host.on('exit', () => reject(new Error('the host ended')))
	})
	return host
}

async function gone(numbers) {
	let now
	for (let i = 0; i < 100; i++) {
		now = left(numbers)
		if (JSON.stringify(now) === JSON.stringify(nothing)) break
		await wait(50)
	}
	return now
}

test('a program runs, in a world of its own', { skip }, () => {
	const { stdout, stderr, status } = program(
		'console.log("hi"); return [await tools.add([1, 2]), typeof process.env.PATH]',
		['--bind', 'tools.add=echo 3']
	)
	assert.deepEqual([stdout, stderr, status], ['[3,"undefined"]\n', 'hi\n', 0])
})

test('every end is told by its kind', { skip }, () => {
	const end = (text, args, options) => {
		const { status, stdout } = program(text, ['--json', ...args], options)
		return [JSON.parse(stdout).error?.message, status]
	}
	assert.deepEqual(end('for (;;);', ['--compute-ms', '200']), [
		'compute budget exhausted (200ms busy)',
		124
	])
	assert.deepEqual(end('await new Promise(() => setTimeout(() => {}, 1e6))', ['--wall-ms', '300']), [
		'wall-clock ceiling reached (300ms)',
		124
	])
	assert.deepEqual(end('process.exit(7)', []), [
		'worker exited with code 7 before completing',
		137
	])
	assert.deepEqual(end('const a = []; for (;;) a.push("x".repeat(1e5) + a.length)', ['--heap-mb', '16']), [
		'out of memory: heap limit 16 MiB',
		137
	])
	assert.deepEqual(end('return "x".repeat(1000)', ['--output-bytes', '100']), [
		'outer output exceeded 100 bytes',
		1
	])
})

test('200 runs, eight at a time, leave nothing', { skip }, async () => {
	const host = spawn(path.join(bin, 'container-host'), ['runs', '200', '8'], { env })
	let out = ''
	let seen = []
	host.stdout.on('data', (data) => (out += data))
	host.stderr.on('data', (data) => (out += data))
	const ended = new Promise((resolve) => host.on('exit', resolve))
	while (seen.length === 0 && host.exitCode === null) {
		await wait(10)
		seen = keepers()
	}
	const code = await ended
	assert.equal(seen.length, 1)
	assert.deepEqual([out, code], ['0 wrong\n', 0])
	assert.deepEqual(await gone(seen), nothing)
})

test('a host that is killed takes its containers along', { skip }, async () => {
	const host = await hanging(3)
	const seen = keepers()
	assert.equal(seen.length, 1)
	host.kill('SIGKILL')
	assert.deepEqual(await gone(seen), nothing)
})

test('what a killed keeper leaves the next one removes', { skip }, async () => {
	const host = await hanging(3)
	const seen = keepers()
	assert.equal(seen.length, 1)
	process.kill(Number(seen[0]), 'SIGSTOP')
	host.kill('SIGKILL')
	process.kill(Number(seen[0]), 'SIGKILL')
	await wait(200)
	/* the control: there is something */
	assert.notDeepEqual(left(seen).state, [])
	assert.equal(program('return 1').stdout, '1\n')
	assert.deepEqual(await gone(seen), nothing)
})

test('a keeper that is killed costs its runs, and is replaced', { skip }, async () => {
	const host = spawn(path.join(bin, 'container-host'), ['program'], { env })
	let out = ''
	host.stdout.on('data', (data) => (out += data))
	host.stdin.end('await new Promise(() => setTimeout(() => {}, 1e6))')
	let seen = []
	while (seen.length === 0) {
		await wait(20)
		seen = keepers()
	}
	await wait(1000)
	process.kill(Number(seen[0]), 'SIGKILL')
	await new Promise((resolve) => host.on('exit', resolve))
	assert.match(out, /"kind":"worker-exit","message":"killed by SIGKILL"/)
	assert.deepEqual(await gone(seen), nothing)
})

test('an ordinary user has containers, too', { skip: needsRoot }, () => {
	fs.mkdirSync(`${dir}/user`, { mode: 0o777 })
	fs.chownSync(`${dir}/user`, 65534, 65534)
	const { stdout, stderr, status } = spawnSync(
		'setpriv',
		['--reuid=65534', '--regid=65534', '--clear-groups', `${bin}/capsid`, 'run', '--isolation', 'container', '-'],
		{
			input: 'return 1 + 1',
			encoding: 'utf8',
			env: { ...env, XDG_RUNTIME_DIR: `${dir}/user`, XDG_CACHE_HOME: `${dir}/user` }
		}
	)
	assert.deepEqual([stdout, stderr, status], ['2\n', '', 0])
	assert.deepEqual(fs.readdirSync(`${dir}/user`), [])
})

test('what cannot work is one line and status 125', { skip }, () => {
	const refused = (args, pattern, options) => {
		const { status, stdout, stderr } = program('return 1', args, options)
		assert.match(stderr, pattern)
		assert.deepEqual([status, stdout, stderr.split('\n').length], [125, '', 2], stderr)
	}
	fs.mkdirSync(`${dir}/empty`)
	fs.mkdirSync(`${dir}/no-guest/proc`, { recursive: true })
	fs.mkdirSync(`${dir}/no-guest/dev`)
	fs.mkdirSync(`${dir}/no-guest/tmp`)
	fs.mkdirSync(`${dir}/damaged`)
	fs.writeFileSync(`${dir}/damaged/oci-layout`, '{"imageLayoutVersion":"1.0.0"}')
	fs.writeFileSync(`${dir}/damaged/index.json`, '{"manifests":')
	refused(['--image', `${dir}/absent`], /image "[^"]*absent": No such file/)
	refused(['--image', `${dir}/empty`], /is no root file system: it lacks the directory \/proc/)
	refused(['--image', `${dir}/no-guest`], /has no guest/)
	refused(['--image', `${dir}/damaged`], /has a damaged index.json/)
	refused(['--oci-runtime', 'no-such-one'], /OCI runtime "no-such-one" is not installed/)
	refused(['--oci-runtime', '/bin/false'], /\/bin\/false: it failed and said nothing/)
	refused([], /must be a directory of this user alone/, {
		env: { XDG_RUNTIME_DIR: (fs.mkdirSync(`${dir}/open/capsid`, { recursive: true }), `${dir}/open`) }
	})
})

test('options without effect are wrong usage', () => {
	const { status, stderr } = capsid(['run', '--image', dir, '-'], { input: '' })
	assert.match(stderr, /want --isolation container/)
	assert.equal(status, 2)
})

test('a cgroup that is required and cannot be had is one line', { skip: needsRoot }, () => {
	/* nobody may make one here; the control is the user's test above */
	fs.mkdirSync(`${dir}/strict`, { mode: 0o700 })
	fs.chownSync(`${dir}/strict`, 65534, 65534)
	const { stdout } = spawnSync(
		'setpriv',
		['--reuid=65534', '--regid=65534', '--clear-groups', `${bin}/container-host`, 'program'],
		{
			input: 'return 1',
			encoding: 'utf8',
			env: { ...env, XDG_RUNTIME_DIR: `${dir}/strict`, SANDBOX: 'cgroup=required' }
		}
	)
	assert.match(stdout, /^no runtime: .*the cgroup that is required cannot be made: .*\n$/)
})

test('a full disk is one line', { skip: needsRoot }, () => {
	fs.mkdirSync(`${dir}/full`)
	const { status, stderr } = spawnSync(
		'unshare',
		[
			'--mount',
			'sh',
			'-c',
			`mount -t tmpfs -o size=16k,mode=700 tmpfs ${dir}/full &&
			XDG_RUNTIME_DIR=${dir}/full ${bin}/capsid run --isolation container -`
		],
		{ input: 'return 1', encoding: 'utf8', env }
	)
	assert.match(stderr, /^capsid: .*No space left on device/)
	assert.deepEqual([status, stderr.split('\n').length], [125, 2], stderr)
})

/* An image with nothing but our guest, as a layout. */
function makeImage(name, change = () => {}) {
	const layout = `${dir}/${name}`
	const umoci = (...args) => {
		const { status, stderr } = spawnSync('umoci', args, { encoding: 'utf8' })
		assert.equal(status, 0, stderr)
	}
	umoci('init', '--layout', layout)
	umoci('new', '--image', `${layout}:latest`)
	umoci('unpack', ...(root ? [] : ['--rootless']), '--image', `${layout}:latest`, `${layout}-b`)
	fs.mkdirSync(`${layout}-b/rootfs/opt`)
	fs.copyFileSync(`${bin}/capsid-guest`, `${layout}-b/rootfs/opt/guest`)
	change(`${layout}-b/rootfs`)
	umoci('repack', '--image', `${layout}:latest`, `${layout}-b`)
	umoci('config', '--image', `${layout}:latest`, '--config.entrypoint', '/opt/guest')
	return layout
}

test('an image is unpacked once, whole, by whoever is first', { skip: needsUmoci }, async () => {
	const layout = makeImage('image')
	const cache = `${dir}/cache/capsid`
	/* one that somebody did not finish */
	fs.mkdirSync(`${cache}/partial-dead`, { recursive: true })
	fs.chmodSync(cache, 0o700)
	fs.writeFileSync(`${cache}/partial-dead/file`, '')
	const runs = await Promise.all(
		Array.from({ length: 3 }, async () => {
			const host = spawn(path.join(bin, 'container-host'), ['runs', '2', '1'], {
				env: { ...env, IMAGE: layout }
			})
			let out = ''
			host.stdout.on('data', (data) => (out += data))
			return new Promise((resolve) => host.on('close', () => resolve(out)))
		})
	)
	assert.deepEqual(runs, Array(3).fill('0 wrong\n'))
	const kept = fs.readdirSync(cache)
	assert.equal(kept.length, 1)
	assert.match(kept[0], /^stripped-1-sha256-[0-9a-f]{64}$/)
	assert.equal(fs.statSync(cache).mode & 0o77, 0)
	assert.equal(program('return 2', ['--image', layout]).stdout, '2\n')
})

test('an image that was tampered with is not used', { skip: needsUmoci }, () => {
	const layout = makeImage('tampered')
	const index = JSON.parse(fs.readFileSync(`${layout}/index.json`, 'utf8'))
	const manifest = `${layout}/blobs/sha256/${index.manifests[0].digest.slice(7)}`
	const { layers } = JSON.parse(fs.readFileSync(manifest, 'utf8'))
	const blob = `${layout}/blobs/sha256/${layers[0].digest.slice(7)}`
	const bytes = fs.readFileSync(blob)
	bytes[bytes.length - 20] ^= 1
	fs.writeFileSync(blob, bytes)
	const { status, stderr } = program('return 1', ['--image', layout])
	assert.match(stderr, /cannot be unpacked/)
	assert.equal(status, 125)
	/* nothing of it is kept */
	const kept = fs.readdirSync(`${dir}/cache/capsid`)
	assert.deepEqual(kept.filter((name) => name.includes(index.manifests[0].digest.slice(7))), [])
	assert.deepEqual(kept.filter((name) => name.startsWith('partial-')), [])
})

test('a directory is an image, with its guest where it should be', { skip: needsUmoci }, () => {
	const rootfs = `${dir}/rootfs`
	for (const place of ['proc', 'dev', 'tmp', 'usr/bin'])
		fs.mkdirSync(`${rootfs}/${place}`, { recursive: true })
	fs.copyFileSync(`${bin}/capsid-guest`, `${rootfs}/usr/bin/capsid-guest`)
	assert.equal(program('return 3', ['--image', rootfs]).stdout, '3\n')
	/* one that is no guest is told by what it does */
	fs.copyFileSync('/bin/true', `${rootfs}/usr/bin/capsid-guest`)
	const { status, stderr } = program('return 3', ['--image', rootfs])
	assert.match(stderr, /capsid-guest/)
	assert.equal(status, 125)
})

/* An image may be anybody's: unpacking it is done as this user. */
test('an image cannot lead out of itself', { skip: needsUmoci }, () => {
	const layout = makeImage('led', (rootfs) => fs.symlinkSync(`${dir}/victim`, `${rootfs}/tmp`))
	fs.mkdirSync(`${dir}/victim`)
	fs.chmodSync(`${dir}/victim`, 0o700)
	const { status, stderr } = program('return 1', ['--image', layout])
	assert.match(stderr, /led": \/tmp must be a directory, not a link/)
	assert.equal(status, 125)
	assert.equal(fs.statSync(`${dir}/victim`).mode & 0o7777, 0o700)
})

test('an image cannot take the place of another one', { skip: needsUmoci }, () => {
	const name = (layout) => /"digest":"sha256:([0-9a-f]{64})"/.exec(fs.readFileSync(`${layout}/index.json`))[1]
	const [good, bad] = ['good', 'bad'].map((text) =>
		makeImage(text, (rootfs) => fs.writeFileSync(`${rootfs}/opt/name`, text))
	)
	const index = fs.readFileSync(`${bad}/index.json`, 'utf8')
	const digest = name(bad)
	const refused = (pattern) => {
		const { status, stderr } = program('return 1', ['--image', bad])
		assert.match(stderr, pattern)
		assert.equal(status, 125)
	}
	/* the control: it is an image */
	assert.equal(program('return 1', ['--image', bad]).stdout, '1\n')
	/* one digest for us, and another for a reader that ignores the case */
	fs.writeFileSync(
		`${bad}/index.json`,
		index.replace(/"digest":"[^"]*"/, (real) => `"digest":"sha256:${name(good)}",${real.replace('d', 'D')}`)
	)
	refused(/bad": blobs\/sha256\/\w+: No such file/)
	/* a manifest under the name of another one */
	fs.copyFileSync(`${bad}/blobs/sha256/${digest}`, `${bad}/blobs/sha256/${name(good)}`)
	refused(/cannot be unpacked: .*digest/)
	assert.equal(program('return 1', ['--image', good]).stdout, '1\n')
	const kept = `${dir}/cache/capsid/stripped-1-sha256-${name(good)}`
	assert.equal(fs.readFileSync(`${kept}/rootfs/opt/name`, 'utf8'), 'good')
})

/* A directory with that guest in it. */
function makeRoot(name) {
	for (const place of ['proc', 'dev', 'tmp', 'usr/bin'])
		fs.mkdirSync(`${dir}/${name}/${place}`, { recursive: true })
	fs.copyFileSync(`${bin}/container-guest`, `${dir}/${name}/usr/bin/capsid-guest`)
	return `${dir}/${name}`
}

test('a guest cannot have its limits taken off by blaming the cgroup', { skip: needsLimits }, () => {
	const [, name, real] = /^ok +(\S+) +([^,\s]+)/m.exec(doctor.stdout)
	const runtime = `${dir}/${name}-counted`
	fs.writeFileSync(
		runtime,
		`#!/bin/sh
		for i; do case "$i" in */capsid-*/capsid-*) test -f "$i/config.json" &&
			grep -c '"pids"' "$i/config.json" >>${dir}/counted;; esac; done
		exec ${real} "$@"\n`,
		{ mode: 0o755 }
	)
	const { status, stderr } = program('return 1', [
		...['--language', 'blames-the-cgroup', '--image', makeRoot('blaming'), '--oci-runtime', runtime]
	])
	assert.match(stderr, /ended before it said boot-ack: no cgroup can be made here/)
	assert.equal(status, 125)
	/* it was made once, with limits, and not again without */
	assert.equal(fs.readFileSync(`${dir}/counted`, 'utf8'), '1\n')
})

const keeper = (...args) =>
	spawnSync(new URL('keeper.py', import.meta.url).pathname, [path.join(bin, 'capsid-oci'), ...args], {
		encoding: 'utf8',
		timeout: 60000,
		env
	}).stdout

test('a guest that ends before it is wanted costs no more than itself', { skip }, () => {
	/* one zombie: its pid is its own until its host lets go */
	assert.equal(
		keeper('--language', 'ends-early', '--image', makeRoot('early')),
		'ready child up 1\n'
	)
})

test('what a runtime leaves behind is reaped', { skip }, () => {
	const boot = '{"type":"boot","protocol":1,"maxOutputBytes":65536,"maxHeapMb":64}\n'
	assert.equal(keeper('--language', 'javascript', '--heap-mb', '64', '--boot', boot), 'ready child up 0\n')
})

test('doctor says which runtime works, and what to do about the others', { skip }, () => {
	assert.equal(doctor.status, 0)
	const lines = doctor.stdout.trimEnd().split('\n')
	assert.equal(lines.pop(), `isolation container, javascript: ${works} is used`)
	assert.deepEqual(
		lines.map((line) => line.split(/ +/)[1]),
		['crun', 'runc', 'runsc', 'kata-runtime']
	)
	for (const line of lines) assert.match(line, /^ok |; to do: \S/)
	const found = JSON.parse(capsid(['doctor', '--isolation', 'container', '--json']).stdout)
	assert.equal(found.ok, true)
	assert.equal(found.runtimes.find((runtime) => runtime.state === 'ok').name, works)
})

test('the plan is the bundle, and takes away what a container could use', () => {
	const { status, stdout } = capsid(['doctor', '--isolation', 'container', '--plan', '--language', 'javascript'])
	assert.equal(status, 0)
	const plan = JSON.parse(stdout)
	const types = plan.linux.namespaces.map(({ type, path }) => [type, path])
	for (const type of ['user', 'mount', 'pid', 'network', 'ipc', 'uts', 'cgroup'])
		assert.deepEqual(types.filter(([name]) => name === type), [[type, undefined]])
	assert.equal(plan.root.readonly, true)
	assert.equal(plan.process.noNewPrivileges, true)
	assert.equal(plan.process.terminal, false)
	for (const set of Object.values(plan.process.capabilities)) assert.deepEqual(set, [])
	const writable = plan.mounts.filter(({ options }) => !options.includes('ro'))
	assert.deepEqual(writable.map(({ destination }) => destination), ['/proc', '/tmp'])
	assert.ok(plan.mounts.every(({ options }) => options.includes('nosuid')))
	assert.equal(plan.linux.seccomp.defaultAction, 'SCMP_ACT_ERRNO')
	const allowed = plan.linux.seccomp.syscalls
		.filter(({ action, args }) => action === 'SCMP_ACT_ALLOW' && !args)
		.flatMap(({ names }) => names)
	for (const name of ['ptrace', 'mount', 'bpf', 'socket', 'fork', 'clone', 'unshare', 'setns', 'io_uring_setup', 'keyctl', 'perf_event_open'])
		assert.ok(!allowed.includes(name), name)
	if (limits || !works) assert.equal(plan.linux.resources.pids.limit, 128)
})

test('the memory of a container is bounded by the kernel', { skip: needsLimits }, async () => {
	const host = await hanging(1)
	const [keeper] = keepers()
	/* heap 64 MiB: six times that, and 352 MiB beside it; one that is being
	 * made may have none yet */
	const wanted = (64 * 6 + 256 + 96) * 1024 * 1024
	let found
	for (let i = 0; i < 40; i++) {
		found = spawnSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', `capsid-*-${keeper}-*`], {
			encoding: 'utf8'
		})
			.stdout.split('\n')
			.flatMap((name) => [`${name}/memory.max`, `${name}/memory.limit_in_bytes`])
			.filter((name) => fs.existsSync(name))
			.map((name) => Number(fs.readFileSync(name, 'utf8')))
		if (found.length > 0 && found.every((limit) => limit === wanted)) break
		await wait(50)
	}
	assert.deepEqual([...new Set(found)], [wanted])
	host.kill('SIGKILL')
	assert.deepEqual(await gone([keeper]), nothing)
})
