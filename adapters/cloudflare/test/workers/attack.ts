/*
 * Tries four ways to the network from an isolate that is loaded as ours are,
 * and from the same one with its outbound open. POST { open, node, port }.
 */
import { workerCode } from '../../src/loader.ts'

const ATTACK = `
import { connect } from 'cloudflare:sockets'
import { WorkerEntrypoint } from 'cloudflare:workers'

const within = (promise) => Promise.race([promise,
	new Promise((_, reject) => setTimeout(() => reject(new Error('no answer')), 3000))])
const routes = {
	async fetch(port) {
		return (await fetch('http://127.0.0.1:' + port)).status
	},
	async socket(port) {
		const socket = connect('127.0.0.1:' + port)
		const writer = socket.writable.getWriter()
		await writer.write(new TextEncoder().encode('GET / HTTP/1.0\\r\\n\\r\\n'))
		const { value } = await socket.readable.getReader().read()
		return new TextDecoder().decode(value).slice(0, 12)
	},
	websocket(port) {
		return new Promise((resolve, reject) => {
			const socket = new WebSocket('ws://127.0.0.1:' + port)
			socket.addEventListener('open', () => resolve('open'))
			socket.addEventListener('error', (event) => reject(new Error(event.message)))
		})
	},
	async net(port) {
		const { connect } = await import('node:net')
		return new Promise((resolve, reject) => {
			const socket = connect(port, '127.0.0.1', () => resolve('connected'))
			socket.on('error', reject)
		})
	}
}

export default class extends WorkerEntrypoint {
	async attack(port) {
		const found = {}
		for (const [name, route] of Object.entries(routes)) {
			try {
				found[name] = await within(route(port))
			} catch (error) {
				found[name] = 'no: ' + error.message
			}
		}
		return found
	}
}
`

interface Env {
	LOADER: WorkerLoader
}

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
		const { open, node, port } = (await request.json()) as Record<string, unknown>
		const limits = { computeMs: 1000, maxWallMs: 1000, maxOutputBytes: 1000, maxArgumentBytes: 1024, maxValues: 1000, subRequests: 0 }
		const { globalOutbound, ...code } = workerCode({ program: '', namespaces: [], limits })
		const worker = env.LOADER.load({
			...code,
			modules: { 'main.js': ATTACK },
			...(node ? { compatibilityFlags: ['nodejs_compat'] } : {}),
			...(open ? {} : { globalOutbound })
		})
		const entry = worker.getEntrypoint() as unknown as {
			attack(port: unknown): Promise<object>
		}
		return Response.json(await entry.attack(port))
	}
}
