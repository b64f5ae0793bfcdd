/*
 * Our providers with the real packages that they are for, inside a Worker:
 * cordis, dsh-code-runtime and dsh-tools; @cloudflare/codemode; and the
 * example's Worker.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve, services } from './kit.mjs'

const get = { method: 'GET' }

async function started(t, which) {
	const worker = await serve(which)
	t.after(() => worker.stop())
	return worker
}

test('ctx.codeRuntime of the real cordis, in a Worker', { timeout: 60_000 }, async (t) => {
	const worker = await started(t, services.cordis)
	for (const [path, isolation] of [
		['/isolate', 'workers-isolate'],
		['/dispatch', 'workers-dispatch'],
		['/wasm', 'workers-wasm']
	])
		await t.test(isolation, async () => {
			const { exception, ...found } = await worker.json(path, undefined, get)
			assert.match(exception.error.message, /^Error: kaboom\n {4}at .*program\.ts:1:\d/)
			assert.deepEqual(found, {
				language: 'typescript',
				isolation,
				value: { value: { hits: ['ü'] }, logs: ['x'] },
				failure: { value: [true, 'ToolError', 'fail', 'nope'], logs: [] },
				invalid: {
					logs: [],
					error: {
						kind: 'invalid-output',
						message: 'program completion must be lossless JSON'
					}
				},
				aborted: { logs: [], error: { kind: 'abort', message: 'stop' } },
				wall: {
					logs: ['before'],
					error: { kind: 'timeout', message: 'wall-clock ceiling reached (400ms)' }
				},
				misuse: 'binding global "await" is not a usable identifier'
			})
		})
	await t.test("dsh-tools' run_code", async () => {
		const { sum, wrong, direct } = await worker.json('/tools', undefined, get)
		assert.deepEqual(sum.value, { logs: [], result: 5 })
		assert.match(wrong.error.message, /ToolCallError: invalid arguments/)
		assert.equal(direct.error.info.code, 'UNKNOWN_TOOL')
	})
	await t.test("disposing the plugin ends its runs", async () => {
		assert.deepEqual(await worker.json('/dispose', undefined, get), {
			logs: ['up'],
			error: { kind: 'abort', message: 'runtime disposed' }
		})
	})
})

test('the executor of the real @cloudflare/codemode', { timeout: 60_000 }, async (t) => {
	const worker = await started(t, services.codemode)
	const { throws, noText, ...found } = await worker.json('/', undefined, get)
	assert.match(throws.error, /^Error: kaboom/)
	assert.equal(typeof noText.error, 'string')
	assert.deepEqual(throws.logs, ['up'])
	assert.deepEqual(found, {
		add: { result: 5 },
		fenced: { result: 2 },
		many: { result: [0, 3] },
		nothing: { result: true },
		second: { result: 'rain' },
		prelude: { result: [4, 4] },
		connector: { result: { method: 'list_issues', args: { open: true } } },
		logs: { result: 1, logs: ['seen { a: 1 }'] },
		fails: { result: 'nope' },
		hangs: { error: 'timeout: wall-clock ceiling reached (300ms)' },
		name: { error: 'binding global "capsid_$bad" is not a usable identifier' },
		theirs: { result: 5 }
	})
})

test('examples/edge answers run_code over HTTP', { timeout: 60_000 }, async (t) => {
	const worker = await started(t, services.edge)
	const ask = (body) => worker.request('/run_code', JSON.stringify(body))
	const done = await ask({
		code: 'const all = await tools.list_notes({})\nconsole.log(all.length, "notes")\nreturn all.filter((note) => note.includes("milk"))',
		description: 'find the milk'
	})
	assert.equal(done.status, 200, done.text)
	assert.deepEqual(JSON.parse(done.text).value, {
		logs: ['2 notes'],
		result: ['buy milk']
	})
	const failed = await ask({ code: 'throw new Error("no")', description: 'fail' })
	assert.equal(failed.status, 200)
	assert.match(JSON.parse(failed.text).error.message, /code run failed \(exception\): Error: no/)
	const prompt = await worker.request('/', undefined, get)
	assert.match(prompt.text, /list_notes/)
	for (const wrong of ['{"code":5}', 'null', '"text"', 'no JSON', ''])
		assert.equal((await worker.request('/run_code', wrong)).status, 400, wrong)
})
