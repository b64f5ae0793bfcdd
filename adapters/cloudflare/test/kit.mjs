/*
 * What the tests share: a bundled Worker, a workerd that serves it on a socket
 * of its own, requests to it. Environment: CAPSID_WASM, where the build leaves
 * the WebAssembly.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { packagePlugins } from '../build.mjs'
import { dshInWorker } from '../scripts/dsh-in-worker.mjs'

export const here = fileURLToPath(new URL('..', import.meta.url))
export const root = fileURLToPath(new URL('../../..', import.meta.url))
export const wasm = process.env.CAPSID_WASM ?? join(root, 'build/cloudflare')
const processor = process.arch === 'arm64' ? 'arm64' : '64'
export const binary = join(here, `node_modules/@cloudflare/workerd-linux-${processor}/bin/workerd`)
export const COMPATIBILITY_DATE = '2026-08-14'

/* Bundles test/workers/NAME.ts into `folder`: the modules of a worker. */
export async function bundle(folder, name, options = {}) {
	const file = name.includes('/') ? name : join(here, 'test/workers', `${name}.ts`)
	const out = `${basename(name).replace(/\.\w+$/, '')}.js`
	await build({
		entryPoints: [file],
		outfile: join(folder, out),
		bundle: true,
		format: 'esm',
		target: 'es2024',
		platform: 'neutral',
		mainFields: ['module', 'main'],
		conditions: ['workerd', 'worker', 'browser', 'import'],
		external: ['cloudflare:*', 'node:*', '*.wasm', '*.bin'],
		nodePaths: [join(here, 'node_modules')],
		plugins: [...(await packagePlugins()), dshInWorker],
		logLevel: 'warning',
		...options
	})
	const text = readFileSync(join(folder, out), 'utf8')
	const imports = text.matchAll(/from\s*"\.\.?\/(\w+\.(?:wasm|bin))"/g)
	const used = [...new Set([...imports].map((m) => m[1]))]
	for (const module of used) copyFileSync(join(wasm, module), join(folder, module))
	return (
		`modules = [ (name = "${out}", esModule = embed "${out}")` +
		used
			.map((module) => {
				const kind = module.endsWith('.wasm') ? 'wasm' : 'data'
				return `, (name = "${module}", ${kind} = embed "${module}")`
			})
			.join('') +
		` ], compatibilityDate = "${COMPATIBILITY_DATE}"`
	)
}

/* Capnp text of the services that a test wants. */
export const services = {
	/* IsolateRuntime */
	isolate: async (folder) =>
		`(name = "main", worker = (${await bundle(folder, 'isolate')}, bindings = [ ${LOADER} ]))`,
	lifecycle: async (folder) =>
		`(name = "main", worker = (${await bundle(folder, 'lifecycle')}, bindings = [ ${LOADER} ]))`,
	/* cordis and dsh, with both; dsh's packages import from Node */
	cordis: async (folder) =>
		`(name = "main", worker = (${await bundle(folder, 'cordis')},
			bindings = [ ${LOADER}, (name = "CODE_RUNTIME", service = (name = "runtime", entrypoint = "CodeRuntimeEntrypoint")) ])),
		(name = "runtime", worker = (${await bundle(folder, 'runtime')}, bindings = [ ${LOADER} ]))`,
	codemode: async (folder) =>
		`(name = "main", worker = (${await bundle(folder, 'codemode')}, bindings = [ ${LOADER} ]))`,
	/* the example, with the built package under its name */
	edge: async (folder) =>
		`(name = "main", worker = (${await bundle(folder, join(root, 'examples/edge/worker.ts'), { alias: { 'capsid-cloudflare/cordis': join(here, 'src/cordis.ts') } })}, bindings = [ ${LOADER} ]))`,
	/* DispatchRuntime, and CodeRuntimeEntrypoint behind it */
	dispatch: async (folder) =>
		`(name = "main", worker = (${await bundle(folder, 'dispatch')},
			bindings = [ (name = "CODE_RUNTIME", service = (name = "runtime", entrypoint = "CodeRuntimeEntrypoint")) ])),
		(name = "runtime", worker = (${await bundle(folder, 'runtime')}, bindings = [ ${LOADER} ]))`,
	/* CapsidContainer, with what test/server.mjs keeps as its containers */
	container: (servers) => async (folder) =>
		`(name = "main", worker = (${await bundle(folder, 'container')},
			durableObjectNamespaces = [ (className = "TestContainer", uniqueKey = "capsid", enableSql = true) ],
			durableObjectStorage = (localDisk = "disk"),
			bindings = [ (name = "CAPSID", durableObjectNamespace = "TestContainer"), (name = "CONTROL", service = "control"),
				${servers.ports.map((_, i) => `(name = "HTTP_${i}", service = "http-${i}"), (name = "TCP_${i}", service = "tcp-${i}")`).join(', ')} ])),
		(name = "disk", disk = (path = "${folder}", writable = true)),
		(name = "control", external = (address = "unix:${servers.socket}", http = ())),
		${servers.ports.map((port, i) => `(name = "http-${i}", external = (address = "127.0.0.1:${port}", http = ())), (name = "tcp-${i}", external = (address = "127.0.0.1:${port}", tcp = ()))`).join(', ')}`,
	/* CapsidContainer as it is deployed, on a Docker-compatible engine */
	engine: ({ docker, image, egress }) => async (folder) =>
		`(name = "main", worker = (${await bundle(folder, 'engine')},
			durableObjectNamespaces = [ (className = "Sandbox", uniqueKey = "capsid", enableSql = true,
				container = (imageName = "${image}", privileges = (securityOpt = ["seccomp=unconfined"]))) ],
			durableObjectStorage = (localDisk = "disk"),
			containerEngine = (localDocker = (socketPath = "unix:${docker}",
				containerEgressInterceptorImage = "${egress}")),
			bindings = [ (name = "CAPSID", durableObjectNamespace = "Sandbox") ])),
		(name = "disk", disk = (path = "${folder}", writable = true))`,
	/* CodeRuntimeEntrypoint over HTTP */
	runtime: (token) => async (folder) =>
		`(name = "main", worker = (${await bundle(folder, 'runtime')},
			bindings = [ ${LOADER}, (name = "CAPSID_TOKEN", text = "${token}") ]))`
}

export const LOADER = '(name = "LOADER", workerLoader = (id = "loader"))'

/*
 * Serves `services` (capnp text made by `services(folder)`), "main" on the
 * socket. V8 flags and the like go in `extra`.
 */
export async function serve(services, { extra = '', tcp = false } = {}) {
	const folder = mkdtempSync(join(tmpdir(), 'capsid-workerd-'))
	const socket = join(folder, 'main.sock')
	const text = await services(folder)
	writeFileSync(
		join(folder, 'config.capnp'),
		`using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
	services = [ ${text} ],
	sockets = [ (name = "main", address = "${tcp ? '127.0.0.1:0' : `unix:${socket}`}", http = (), service = "main") ]
	${extra}
);
`
	)
	const child = spawn(binary, ['serve', '--experimental', '--control-fd=3', 'config.capnp'], {
		cwd: folder,
		env: {},
		stdio: ['ignore', 'pipe', 'pipe', 'pipe']
	})
	let output = ''
	child.stdout.on('data', (data) => (output += data))
	child.stderr.on('data', (data) => (output += data))
	const exited = once(child, 'exit')
	const worker = {
		pid: child.pid,
		/* of TCP, once it listens */
		port: 0,
		folder,
		output: () => output,
		exited,
		/* Resident memory in MiB. */
		rss() {
			const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
			return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)[1]) / 1024
		},
		/* CPU time so far in milliseconds: the kernel counts hundredths. */
		cpu() {
			const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ')
			return (Number(fields[11]) + Number(fields[12])) * 10
		},
		request: (path, body, options) => request(socket, path, body, options),
		async json(path, body, options) {
			const { status, text: answer } = await request(
				socket,
				path,
				body === undefined ? undefined : JSON.stringify(body),
				options
			)
			if (status !== 200) throw new Error(`${path}: ${status} ${answer}\n${output}`)
			return JSON.parse(answer)
		},
		/* At SIGTERM workerd removes its containers. */
		async stop(signal = 'SIGKILL') {
			child.kill(signal)
			await exited
			rmSync(folder, { recursive: true })
		}
	}
	try {
		worker.port = await listening(child, () => output)
	} catch (error) {
		await worker.stop()
		throw error
	}
	return worker
}

/* workerd says on its control descriptor when and where it listens. */
function listening(child, output) {
	return new Promise((resolve, reject) => {
		let said = ''
		child.once('exit', () => reject(new Error(`workerd ended: ${output()}`)))
		child.stdio[3].on('data', (data) => {
			said += data
			const event = said.split('\n').find((line) => line.includes('"listen"'))
			if (event) resolve(JSON.parse(event).port)
		})
	})
}

function request(socketPath, path, body, { method = 'POST', headers = {} } = {}) {
	return new Promise((resolve, reject) => {
		const sent = httpRequest(
			{ socketPath, path, method, headers: { host: 'capsid.test', ...headers } },
			(response) => {
				const parts = []
				response.on('data', (part) => parts.push(part))
				response.on('error', reject)
				response.on('end', () =>
					resolve({
						status: response.statusCode,
						headers: response.headers,
						text: Buffer.concat(parts).toString()
					})
				)
			}
		)
		sent.on('error', reject)
		sent.end(body)
	})
}
