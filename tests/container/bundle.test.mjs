/*
 * What a container is made of, stated in full: the bundle that is planned, and
 * what the kernel knows of a container that was made of it. A line that is
 * taken out of src/oci/bundle.c fails here, whatever else would still hold.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'

const bin = process.env.CAPSID_BIN ?? new URL('../../build/bin', import.meta.url).pathname
const root = process.getuid() === 0
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'bundle-test-'))
fs.chmodSync(dir, 0o755)
const env = { ...process.env, XDG_RUNTIME_DIR: `${dir}/run`, XDG_CACHE_HOME: `${dir}/cache` }
after(() => fs.rmSync(dir, { recursive: true, force: true }))

const user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
const call = (before, ...args) => {
	const [name, ...rest] = [...before, path.join(bin, args[0]), ...args.slice(1)]
	return spawnSync(name, rest, { encoding: 'utf8', timeout: 60000, env })
}
const doctor = call([], 'capsid', 'doctor', '--isolation', 'container', '--language', 'javascript')
const works = /^ok +(\S+)/m.exec(doctor.stdout)?.[1]
const skip = works ? false : `no OCI runtime works here: ${doctor.stdout}`
if (skip) console.log(`SKIPPED container: ${skip}`)

const masked = [
	'/proc/acpi',
	'/proc/asound',
	'/proc/kcore',
	'/proc/keys',
	'/proc/latency_stats',
	'/proc/sched_debug',
	'/proc/scsi',
	'/proc/timer_list',
	'/proc/timer_stats',
	'/proc/sysrq-trigger'
]
const readonly = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys']
const devices = { null: 3, zero: 5, full: 7, random: 8, urandom: 9 }
/* The most that each may be; a lower limit of the host's stays. */
const rlimits = {
	CORE: 0,
	NOFILE: 256,
	FSIZE: 64 << 20,
	NPROC: 64,
	MEMLOCK: 0,
	MSGQUEUE: 0,
	SIGPENDING: 256,
	NICE: 0,
	RTPRIO: 0,
	STACK: 8 << 20
}

function expected(ids, guest) {
	const bind = (source, destination, ...options) => ({
		destination,
		type: 'bind',
		source,
		options: ['bind', 'ro', 'nosuid', ...options]
	})
	return {
		ociVersion: '1.0.2',
		process: {
			terminal: false,
			user: { uid: guest, gid: guest },
			cwd: '/',
			args: ['/usr/bin/capsid-guest', '--language', 'javascript', '--heap-mb', '512'],
			env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'CAPSID_LANGUAGE=javascript', 'CAPSID_HEAP_MB=512'],
			capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
			noNewPrivileges: true
		},
		root: { path: '/run/capsid/KEEPER/rootfs', readonly: true },
		hostname: 'capsid',
		mounts: [
			{ destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
			{
				destination: '/tmp',
				type: 'tmpfs',
				source: 'tmpfs',
				options: ['nosuid', 'nodev', 'noexec', 'mode=1777', 'size=67108864', 'nr_inodes=4096']
			},
			bind('/run/capsid/KEEPER/dev', '/dev', 'nodev', 'noexec'),
			...Object.keys(devices).map((name) => bind(`/dev/${name}`, `/dev/${name}`, 'noexec'))
		],
		linux: {
			uidMappings: ids,
			gidMappings: ids,
			namespaces: ['user', 'mount', 'pid', 'network', 'ipc', 'uts', 'cgroup'].map((type) => ({ type })),
			cgroupsPath: 'capsid-KEEPER-CONTAINER',
			resources: {
				devices: [
					{ allow: false, access: 'rwm' },
					...Object.values(devices).map((minor) => ({ allow: true, type: 'c', major: 1, minor, access: 'rw' }))
				],
				memory: { limit: 1 << 30 },
				pids: { limit: 128 },
				cpu: { period: 100000, quota: 100000 }
			},
			maskedPaths: masked,
			readonlyPaths: readonly
		}
	}
}

function planned(before, ...args) {
	const { status, stdout, stderr } = call(before, 'capsid-oci', '--plan', '--language', 'javascript', ...args)
	assert.equal(status, 0, stderr)
	const plan = JSON.parse(stdout)
	const { rlimits: limits } = plan.process
	const { seccomp } = plan.linux
	/* the guest, and the shared libraries of one that has any */
	const own = plan.mounts.splice(2 + 1 + Object.keys(devices).length)
	delete plan.process.rlimits
	delete plan.linux.seccomp
	return { plan, limits, seccomp, own }
}

function check(before, ids, guest) {
	const { plan, limits, seccomp, own } = planned(before)
	assert.deepEqual(plan, expected(ids, guest))
	assert.deepEqual(limits.map(({ type }) => type), Object.keys(rlimits).map((name) => `RLIMIT_${name}`))
	for (const { type, hard, soft } of limits) {
		assert.ok(hard <= rlimits[type.slice(7)], type)
		assert.equal(soft, hard)
	}
	assert.equal(own.at(-1).destination, '/usr/bin/capsid-guest')
	for (const { type, options } of own) {
		assert.equal(type, 'bind')
		assert.deepEqual(options, ['bind', 'ro', 'nosuid', 'nodev'])
	}
	assert.deepEqual([seccomp.defaultAction, seccomp.defaultErrnoRet], ['SCMP_ACT_ERRNO', 38])
}

const id = (number) => ({ containerID: number, hostID: number, size: 1 })

test("root's bundle is this and nothing else", { skip: !root && 'only root has it' }, () =>
	check([], [id(0), id(65534)], 65534)
)

test("an ordinary user's bundle is this and nothing else", () =>
	check(root ? user : [], [{ containerID: 0, hostID: root ? 65534 : process.getuid(), size: 1 }], 0)
)

test('devices are denied without a cgroup, too', () => {
	const { plan } = planned([], '--sandbox', 'cgroup=off')
	assert.deepEqual(Object.keys(plan.linux.resources), ['devices'])
	assert.deepEqual(plan.linux.resources.devices, expected().linux.resources.devices)
	assert.equal(plan.linux.cgroupsPath, undefined)
})

/* The process number of a guest that waits for its program's end. */
async function guestOf(host) {
	await new Promise((resolve, reject) => {
		host.stdout.on('data', (data) => `${data}`.includes('up') && resolve())
		host.on('exit', () => reject(new Error('the host ended')))
	})
	const keeper = /^capsid-\d+-(\d+)-/.exec(fs.readdirSync(`${dir}/run/capsid`).find((name) => name !== 'lock'))[1]
	return fs
		.readdirSync('/proc')
		.filter((pid) => /^\d+$/.test(pid))
		.find((pid) => {
			try {
				return (
					fs.readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/, '').split(' ')[2] === keeper &&
					fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('/usr/bin/capsid-guest')
				)
			} catch {
				return false
			}
		})
}

/* Where something is mounted, with what is said of the mount itself. */
function mountsOf(pid) {
	const lines = fs.readFileSync(`/proc/${pid}/mountinfo`, 'utf8').trimEnd().split('\n')
	return new Map(lines.map((line) => line.split(' ')).map((words) => [words[4], words[5].split(',')]))
}

test('the kernel knows a container as it was planned', { skip }, async (t) => {
	const host = spawn(path.join(bin, 'container-host'), ['hang', '1'], { env })
	try {
		const pid = await guestOf(host)
		const mounts = mountsOf(pid)
		const has = (place, ...options) =>
			assert.deepEqual(
				['ro', 'nosuid', 'nodev', 'noexec'].filter((option) => mounts.get(place)?.includes(option)),
				options,
				place
			)
		await t.test('mounts', () => {
			has('/', 'ro', 'nosuid', 'nodev')
			has('/proc', 'nosuid', 'nodev', 'noexec')
			has('/tmp', 'nosuid', 'nodev', 'noexec')
			has('/dev', 'ro', 'nosuid', 'nodev', 'noexec')
			has('/usr/bin/capsid-guest', 'ro', 'nosuid', 'nodev')
			for (const name of Object.keys(devices)) has(`/dev/${name}`, 'ro', 'nosuid', 'noexec')
			for (const place of readonly.filter((name) => fs.existsSync(name)))
				assert.ok(mounts.get(place)?.includes('ro'), `${place} can be written to`)
			for (const place of masked.filter((name) => fs.existsSync(name)))
				assert.ok(mounts.has(place), `${place} can be read`)
			/* the control: nothing of that is the host's own */
			assert.ok(!mountsOf('self').has('/proc/sys'))
		})
		await t.test('rights', () => {
			const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8')
			const value = (name) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)[1]
			for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.equal(value(set), '0'.repeat(16), set)
			assert.deepEqual([value('NoNewPrivs'), value('Seccomp')], ['1', '2'])
			const own = root ? 65534 : process.getuid()
			assert.equal(value('Uid'), Array(4).fill(own).join('\t'))
			if (root) assert.equal(value('Groups'), '')
		})
		await t.test('namespaces', () => {
			for (const name of ['user', 'mnt', 'pid', 'net', 'ipc', 'uts', 'cgroup'])
				assert.notEqual(fs.readlinkSync(`/proc/${pid}/ns/${name}`), fs.readlinkSync(`/proc/self/ns/${name}`), name)
		})
	} finally {
		host.kill('SIGKILL')
	}
})
