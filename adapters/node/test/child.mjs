/*
 * Programs of Node.js in a process of their own: `inChild(code)` runs an ES
 * module in which `createRuntime` is there already, and gives what it printed.
 */
import { spawnSync } from 'node:child_process'

const entry = JSON.stringify(new URL('../index.mjs', import.meta.url).href)
const prelude = `import { createRuntime } from ${entry};`

export function inChild(code, { flags = [], timeout = 300_000, env } = {}) {
	const { status, signal, stdout, stderr } = spawnSync(
		process.execPath,
		[...flags, '--input-type=module', '--eval', prelude + code],
		{ encoding: 'utf8', timeout, env: { ...process.env, ...env } }
	)
	return { status, signal, stdout, stderr }
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
