/*
 * The conformance corpus against a deployed code-runtime Worker, its limits
 * included: node conformance-live.mjs URL [ONLY], CAPSID_TOKEN in the
 * environment. Wants Node.js 22 and a build (build/cloudflare).
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { judge } from '../test/expect.mjs'
import { root } from '../test/kit.mjs'
import { performRemotely } from '../test/remote.mjs'

const [url, only = ''] = process.argv.slice(2)
const token = process.env.CAPSID_TOKEN
if (!url || !token || typeof WebSocket === 'undefined') {
	console.error(
		'usage: CAPSID_TOKEN=… node conformance-live.mjs https://…/run [ONLY]  (Node.js 22 or later)'
	)
	process.exit(2)
}

const text = readFileSync(join(root, 'tests/conformance/typescript.jsonl'), 'utf8')
const cases = text.split('\n').filter(Boolean).map((line) => JSON.parse(line))
let passed = 0
let failed = 0
for (const one of cases) {
	if (!one.name.includes(only)) continue
	let wrong
	try {
		wrong = judge(one, await performRemotely(url, token, one))
	} catch (error) {
		wrong = String(error)
	}
	if (wrong === undefined) passed++
	else {
		failed++
		console.log(`FAIL ${one.name}: ${wrong}`)
	}
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
