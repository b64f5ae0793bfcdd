/*
 * An isolate of its own for one run, by the Worker Loader binding: in the
 * caller's Worker for IsolateRuntime, behind a service or dispatch binding or
 * a WebSocket for the others.
 */
import childSource from 'capsid:child'
import type { HostTarget } from './target.ts'
import { platformLimits, type Job } from './contract/types.ts'

const COMPATIBILITY_DATE = '2026-08-14'
/* No part of Node, and no way to the environment but what `run` is given. */
const FLAGS = ['no_nodejs_compat', 'no_nodejs_compat_v2', 'disallow_importable_env']
/* How long a program that was told to stop may take before it is let go. */
const STOP_MS = 1000

interface GuestEntrypoint {
	run(host: HostTarget, spec: string): Promise<unknown>
}

/* The host's target, or a stub of it. */
export type HostLike = Pick<HostTarget, 'stopped'>

/* The isolate as it is loaded; tests attack from one that is made so. */
export function workerCode({ limits, program }: Job) {
	return {
		compatibilityDate: COMPATIBILITY_DATE,
		compatibilityFlags: FLAGS,
		mainModule: 'main.js',
		modules: { 'main.js': childSource, 'program.txt': { text: program } },
		env: {},
		globalOutbound: null,
		limits: platformLimits(limits)
	}
}

/*
 * Runs the job to its end, or until the host says stop: which the guest hears
 * from the host itself, between two of its turns. One that spins hears nothing:
 * only its limits end it. Resolves to what the guest said; rejects when its
 * isolate died.
 */
export async function supervise(
	loader: WorkerLoader,
	job: Job,
	host: HostLike
): Promise<unknown> {
	const { limits, namespaces } = job
	const worker = loader.load(workerCode(job))
	const entry = worker.getEntrypoint() as unknown as GuestEntrypoint
	const spec = JSON.stringify({
		namespaces,
		maxOutputBytes: limits.maxOutputBytes,
		maxArgumentBytes: limits.maxArgumentBytes,
		maxValues: limits.maxValues,
		maxWallMs: limits.maxWallMs
	})
	let over = false
	let timer: number | null = null
	const patience = new Promise<void>((resolve) => {
		const begin = () => {
			if (!over) timer = setTimeout(resolve, STOP_MS)
		}
		/* a host that is gone wants it stopped as well */
		host.stopped().then(begin, begin)
	})
	try {
		return await Promise.race([entry.run(host as HostTarget, spec), patience])
	} finally {
		over = true
		clearTimeout(timer)
	}
}
