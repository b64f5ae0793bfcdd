/*
 * Containers without an engine: each is a capsid-server on a port of this
 * machine, which a Worker starts and ends over a control socket, as the fake
 * `ctx.container` of test/workers/container.ts does.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createListener } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './kit.mjs'

export const binary = process.env.CAPSID_SERVER ?? join(root, 'build/bin/capsid-server')

async function freePort() {
	const listener = createListener().listen(0, '127.0.0.1')
	await once(listener, 'listening')
	const { port } = listener.address()
	listener.close()
	await once(listener, 'close')
	return port
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/* Children of a process, and theirs. */
function descendants(pid) {
	let children
	try {
		children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
	} catch {
		return []
	}
	return children
		.split(' ')
		.filter(Boolean)
		.flatMap((child) => [Number(child), ...descendants(child)])
}

/* One container: what was asked of it, and what it is to do next time. */
class Slot {
	process
	running = false
	starts = []
	destroys = 0
	/* a start comes to nothing; or it takes so long */
	deaf = false
	stillborn = false
	delayMs = 0

	constructor(port) {
		this.port = port
	}

	async start(options) {
		this.starts.push(options)
		this.running = !this.stillborn
		if (this.deaf || this.stillborn) return
		if (this.delayMs > 0) await sleep(this.delayMs)
		if (this.process !== undefined) throw new Error('two in one container')
		this.process = spawn(binary, ['--port', String(this.port)], {
			env: { CAPSID_HEAP_MB: '2048', ...options.env },
			stdio: 'ignore'
		})
	}

	/* As if its process had died; `seen`: and the platform had noticed. */
	async die(seen = true) {
		if (seen) this.running = false
		const { process } = this
		this.process = undefined
		if (process === undefined) return
		if (process.exitCode !== null || process.signalCode !== null) return
		const ended = once(process, 'exit')
		process.kill('SIGKILL')
		await ended
	}

	async destroy() {
		this.destroys++
		await this.die()
	}

	descendants() {
		return this.process ? descendants(this.process.pid) : []
	}
}

/* `count` containers, and their control socket. */
export async function servers(count) {
	const folder = mkdtempSync(join(tmpdir(), 'capsid-servers-'))
	const socket = join(folder, 'control.sock')
	const ports = []
	while (ports.length < count) ports.push(await freePort())
	const slots = ports.map((port) => new Slot(port))
	const control = createServer(async (request, response) => {
		const [, number, verb] = request.url.split('/')
		const slot = slots[number]
		const parts = []
		for await (const part of request) parts.push(part)
		if (verb === 'start') void slot.start(JSON.parse(Buffer.concat(parts)))
		else if (verb === 'destroy') await slot.destroy()
		response.end(JSON.stringify({ running: slot.running }))
	}).listen(socket)
	await once(control, 'listening')
	return {
		ports,
		socket,
		slots,
		async stop() {
			control.closeAllConnections()
			control.close()
			for (const slot of slots) await slot.die()
			rmSync(folder, { recursive: true })
		}
	}
}
