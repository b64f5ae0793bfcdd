/*
 * Whether a program goes on when its run is over: POST { program, stopAt }
 * runs it below every gate of ours, stops it at its call of that number, and
 * tells how often it called, and how often after the end. `tools.tick` is its one function.
 */
import type { Ending, Job } from '../../src/contract/types.ts'
import { supervise } from '../../src/loader.ts'
import { Channel } from '../../src/target.ts'

interface Env {
	LOADER: WorkerLoader
}

const WATCH_MS = 300
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function flood(): Promise<string[]> {
	const answers: ((reply: string) => void)[] = []
	const { target } = new Channel({
		log: () => {},
		call: () => new Promise((resolve) => answers.push(resolve)),
		end: () => {}
	})
	const [first] = Array.from({ length: 65_536 }, () => target.call(0, 0, '1', false))
	const many = await target.call(0, 0, '1', false)
	answers.splice(0).forEach((answer) => answer('vnull'))
	await first
	void target.call(0, 0, 'x'.repeat(60 << 20), false)
	const much = await target.call(0, 0, 'x'.repeat(10 << 20), false)
	answers.splice(0).forEach((answer) => answer('vnull'))
	await sleep(0)
	const again = target.call(0, 0, 'x'.repeat(10 << 20), false)
	answers.splice(0).forEach((answer) => answer('vnull'))
	return [many, much, await again]
}

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
		if (request.method === 'GET') return Response.json(await flood())
		const { program, stopAt = 0 } = await request.json<{ program: string; stopAt?: number }>()
		let calls = 0
		let ended: Ending | undefined
		const channel = new Channel({
			log: () => {},
			call: async () => (calls++, 'vnull'),
			end: (ending) => (ended ??= ending)
		})
		const job: Job = {
			program,
			namespaces: [{ global: 'tools', functions: ['tick'] }],
			limits: { computeMs: 1000, maxWallMs: 20_000, maxOutputBytes: 10_000, subRequests: Infinity }
		}
		const guest = channel.guest(supervise(env.LOADER, job, channel.target))
		while (calls < stopAt && ended === undefined) await sleep(5)
		if (stopAt > 0) guest.stop()
		await guest.gone
		const before = calls
		await sleep(WATCH_MS)
		return Response.json({ ended, before, after: calls - before })
	}
}
