/*
 * Whether a program goes on when its run is over: POST { program, stopAt }
 * runs it below every gate of ours, in an isolate that is not closed, stops it at its call of that number, and
 * tells how often it called, and how often after the end. `tools.tick` is its one function.
 */
import { checkConfig } from '../../src/contract/request.ts'
import type { Ending, Job } from '../../src/contract/types.ts'
import { supervise } from '../../src/loader.ts'
import { Channel } from '../../src/target.ts'
import { unlocked } from './unlocked.ts'

interface Env {
	LOADER: WorkerLoader
}

const WATCH_MS = 300
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
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
			limits: checkConfig({ computeMs: 1000, maxWallMs: 20_000, maxOutputBytes: 10_000 })
		}
		const guest = channel.guest(supervise(unlocked(env.LOADER), job, channel.target))
		while (calls < stopAt && ended === undefined) await sleep(5)
		if (stopAt > 0) guest.stop()
		await guest.gone
		const before = calls
		await sleep(WATCH_MS)
		return Response.json({ ended, before, after: calls - before })
	}
}
