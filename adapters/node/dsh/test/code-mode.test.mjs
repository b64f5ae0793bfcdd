/*
 * Code Mode of the real @deepseek-ai/dsh-tools over our provider: `run_code`
 * calls real registered tools, on each isolation, and in Python.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Context } from '@deepseek-ai/cordis'
import { CallId } from '@deepseek-ai/dsh-llm'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import ToolRuntime, { defineTool } from '@deepseek-ai/dsh-tools'
import { CapsidCodeRuntime } from 'dsh-code-runtime-capsid'

const number = { type: 'number', required: true }
const output = {
	schema: { type: 'json' },
	render: (_args, value) => [{ type: 'text', text: JSON.stringify(value) }]
}

const tool = (name, parameters, execute) =>
	defineTool({ name, description: `The tool ${name}.`, parameters, output, execute })

/* A context with Code Mode on and tools that add, fail and wait. */
async function codeMode(config, mode = 'code') {
	const ctx = new Context()
	await ctx.plugin(SystemPrompt, {})
	await ctx.plugin(ToolRuntime, { mode })
	const fiber = await ctx.plugin(CapsidCodeRuntime, config)
	const seen = { calls: [], aborted: [], started: Promise.withResolvers() }
	ctx.tools.register(
		tool('add', { a: number, b: number }, async ({ a, b }) => {
			seen.calls.push([a, b])
			return { sum: a + b }
		})
	)
	ctx.tools.register(
		tool('shout', { text: { type: 'string', required: true } }, async ({ text }) => text.toUpperCase())
	)
	ctx.tools.register(
		tool('fail', {}, async () => {
			throw new Error('the disk is full')
		})
	)
	ctx.tools.register(
		tool('wait', {}, (_args, exec) => {
			seen.started.resolve()
			return new Promise((_resolve, reject) => {
				exec.signal.addEventListener('abort', () => {
					seen.aborted.push(String(exec.signal.reason))
					reject(new Error('stopped'))
				})
			})
		})
	)
	let last = 0
	const execute = (name, args, signal = new AbortController().signal) =>
		ctx.tools.execute({ signal, callId: CallId(`call-${++last}`), name, arguments: args })
	const runCode = (code, signal) => execute('run_code', { code, description: 'Try a program' }, signal)
	return { ctx, fiber, seen, execute, runCode }
}

const textOf = (result) => result.content.map((block) => block.text).join('\n')

for (const isolation of ['worker-thread', 'process']) {
	test(`${isolation}: run_code calls two tools and gives logs and value`, async () => {
		const { fiber, seen, runCode, ctx } = await codeMode({ isolation })
		const { sections, tools } = await ctx.systemPrompt.assemble()
		assert.deepEqual(tools.map(({ name }) => name), ['run_code'])
		assert.match(sections.find(({ name }) => name === 'tools:sdk').text, /declare const tools/)
		const result = await runCode(`
			const sums = await Promise.all([1, 2, 3].map((n) => tools.add({ a: n, b: n })))
			console.log('sums', sums.map((s) => s.sum))
			return await tools.shout({ text: 'total ' + sums.reduce((t, s) => t + s.sum, 0) })`)
		assert.equal(result.isError, false)
		assert.equal(textOf(result), 'sums [ 2, 4, 6 ]\nTOTAL 12')
		assert.deepEqual(result.value, { logs: ['sums [ 2, 4, 6 ]'], result: 'TOTAL 12' })
		assert.deepEqual(seen.calls, [[1, 1], [2, 2], [3, 3]])
		await fiber.dispose()
	})

	test(`${isolation}: a tool fails the same natively and nested, where the program may catch it`, async () => {
		const { fiber, execute, runCode } = await codeMode({ isolation }, 'both')
		const native = await execute('fail', {})
		assert.equal(native.isError, true)
		assert.match(textOf(native), /the disk is full/)
		const caught = await runCode(`
			try { await tools.fail({}) } catch (e) {
				return { typed: e instanceof ToolCallError, name: e.name, tool: e.toolName, message: e.message }
			}`)
		assert.deepEqual(caught.value.result, {
			typed: true,
			name: 'ToolCallError',
			tool: 'fail',
			message: 'the disk is full'
		})
		const bad = await runCode(`try { await tools.add({ a: 'x' }) } catch (e) { return [e.toolName, e.message] }`)
		assert.equal(bad.value.result[0], 'add')
		assert.match(bad.value.result[1], /"?a"?/)
		await fiber.dispose()
	})

	test(`${isolation}: what the program does not catch is an error result with its kind and logs`, async () => {
		const { fiber, runCode } = await codeMode({ isolation, computeMs: 300 })
		const thrown = await runCode(`console.log('before'); await tools.fail({})`)
		assert.equal(thrown.isError, true)
		assert.match(
			textOf(thrown),
			/code run failed \(exception\): ToolCallError: the disk is full[^]*Captured output:\nbefore/
		)
		assert.match(textOf(await runCode('for (;;) {}')), /code run failed \(timeout\): compute budget exhausted \(300ms busy\)/)
		assert.match(textOf(await runCode('return () => 1')), /\(invalid-output\): program completion must be lossless JSON$/)
		assert.match(textOf(await runCode('enum E { A }')), /\(exception\): .*enum/)
		await fiber.dispose()
	})

	test(`${isolation}: aborting the call aborts the program and the tool that it awaits`, async () => {
		const { fiber, seen, runCode } = await codeMode({ isolation })
		const controller = new AbortController()
		const running = runCode('await tools.wait({}); return 1', controller.signal)
		await seen.started.promise
		controller.abort('user-cancel')
		const result = await running
		assert.equal(result.isError, true)
		assert.deepEqual(seen.aborted, ['user-cancel'])
		assert.deepEqual((await runCode('return "next"')).value, { logs: [], result: 'next' })
		await fiber.dispose()
	})

	test(`${isolation}: a program that ends leaves no tool running`, async () => {
		const { fiber, seen, runCode } = await codeMode({ isolation })
		const result = await runCode('void tools.wait({}).catch(() => {}); await new Promise((r) => setTimeout(r, 1000)); return 1')
		assert.deepEqual(result.value, { logs: [], result: 1 })
		assert.deepEqual(seen.aborted, ['run_code settled'])
		await fiber.dispose()
	})
}

test('Python: the SDK is Python and run_code calls the tools', async () => {
	const { ctx, fiber, runCode } = await codeMode({ language: 'python' })
	assert.deepEqual([ctx.codeRuntime.language, ctx.codeRuntime.isolation], ['python', 'process'])
	const { sections } = await ctx.systemPrompt.assemble()
	assert.match(sections.find(({ name }) => name === 'tools:sdk').text, /class ToolCallError/)
	const result = await runCode(`
import json
out = await tools.add({"a": 1, "b": 2})
try:
    await tools.fail({})
except ToolCallError as error:
    print(error.toolName, error)
return json.dumps(out)`)
	assert.deepEqual(result.value, { logs: ['fail the disk is full\n'], result: '{"sum": 3}' })
	await fiber.dispose()
})
