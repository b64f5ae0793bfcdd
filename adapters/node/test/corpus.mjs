/*
 * The conformance corpora (tests/conformance/README.md has the format) through
 * the package: `check(line, isolation)` throws when a case does not hold.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRuntime } from '../index.mjs'

const folder = new URL('../../../tests/conformance/', import.meta.url)

export const corpus = (name) =>
	readFileSync(new URL(name, folder), 'utf8')
		.split('\n')
		.filter((line) => line !== '')
		.map((line) => JSON.parse(line))

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/* A host function as the corpus describes it. */
function behave(behaviour, heard, late) {
	const { delayMs = 0, echo, returns, throws, never, ...unknown } = behaviour
	assert.deepEqual(unknown, {})
	return async (argument) => {
		heard(argument)
		if (never) return new Promise((resolve) => late.push(resolve))
		if (delayMs > 0) await sleep(delayMs)
		if (throws !== undefined) throw new Error(throws)
		return echo ? argument : returns
	}
}

/* The bindings of a case; what is heard goes into `calls`. */
function bind(list, calls, late) {
	return list.map(({ global, functions, errorClass }) => ({
		global,
		errorClass,
		functions: Object.fromEntries(
			Object.entries(functions).map(([name, behaviour]) => [
				name,
				behave(behaviour, (argument) => calls.push([global, name, argument]), late)
			])
		)
	}))
}

/* How deep single-child containers go around "leaf"; -1: they do not. */
function depthOf(value) {
	let depth = 0
	for (; typeof value === 'object' && value !== null; depth++) {
		const members = Object.values(value)
		if (members.length !== 1) return -1
		;[value] = members
	}
	return value === 'leaf' ? depth : -1
}

const bytes = (value) => Buffer.byteLength(JSON.stringify(value))

/* What each expectation asks of a result. */
const expectations = {
	value: ({ value }, want) => assert.deepEqual(value, want),
	value_absent: (result) => assert.ok(!('value' in result)),
	value_text: ({ value }, want) => assert.equal(JSON.stringify(value), want),
	value_depth: ({ value }, want) => assert.equal(depthOf(value), want),
	value_length: ({ value }, want) => assert.equal(value.length, want),
	logs: ({ logs }, want) => assert.deepEqual(logs, want),
	logs_joined: ({ logs }, want) => assert.equal(logs.join(''), want),
	logs_nonempty: ({ logs }) => assert.ok(logs.length > 0),
	logs_count: ({ logs }, want) => assert.equal(logs.length, want),
	logs_prefix_of: ({ logs }, want) =>
		logs.forEach((text, i) => assert.ok(want[i].startsWith(text))),
	ledger_at_most: ({ logs, value, error }, most) =>
		assert.ok(
			bytes(logs) +
				(error ? bytes(error.message) : value === undefined ? 0 : bytes(value)) <=
				most
		),
	calls: (result, want, calls) => assert.deepEqual(calls, want),
	error: ({ error }, want) => {
		const { kind, kind_one_of, message, ...more } = want
		const { message_includes, message_prefix_of, ...unknown } = more
		assert.deepEqual(unknown, {})
		assert.ok(error, 'the program succeeded')
		if (kind) assert.equal(error.kind, kind, error.message)
		if (kind_one_of) assert.ok(kind_one_of.includes(error.kind), error.kind)
		if (message !== undefined) assert.equal(error.message, message)
		if (message_includes !== undefined)
			assert.ok(error.message.includes(message_includes), error.message)
		if (message_prefix_of !== undefined)
			assert.ok(message_prefix_of.startsWith(error.message), error.message)
	}
}

/* What holds of every result, whatever the case expects. */
function checkShape(result, streamed) {
	assert.deepEqual(
		Object.keys(result).filter((key) => !['value', 'logs', 'error'].includes(key)),
		[]
	)
	assert.ok(result.logs.every((text) => typeof text === 'string'))
	if (!result.error) assert.deepEqual(streamed, result.logs.map((t) => t.toWellFormed()))
	else assert.ok(!('value' in result))
}

/* Runtimes by what they were configured with, and what they log now. */
const runtimes = new Map()

function runtimeFor(config, streamed) {
	const key = JSON.stringify(config)
	if (!runtimes.has(key)) {
		const entry = {}
		entry.runtime = createRuntime({
			...config,
			onLog: (text) => entry.streamed.push(text)
		})
		runtimes.set(key, entry)
	}
	const entry = runtimes.get(key)
	entry.streamed = streamed
	return entry.runtime
}

export async function disposeAll() {
	await Promise.all([...runtimes.values()].map(({ runtime }) => runtime.dispose()))
	runtimes.clear()
}

/* One case at a time: cases of one configuration share a runtime. */
export async function check(given, isolation) {
	const { language, program, config = {}, bindings = [], abort, before, expect } = given
	const { misuse_includes: misuse, ...wanted } = expect
	const calls = []
	const late = []
	const streamed = []
	try {
		const runtime = runtimeFor({ ...config, language, isolation }, streamed)
		const request = { program, bindings: bind(bindings, calls, late) }
		if (before !== undefined) {
			await runtime.run({ ...request, program: before })
			calls.length = streamed.length = 0
		}
		if (abort) request.signal = signalOf(abort)
		const result = await runtime.run(request)
		assert.equal(misuse, undefined, 'it was not refused')
		checkShape(result, streamed)
		if (!wanted.error) assert.equal(result.error, undefined, result.error?.message)
		for (const [name, want] of Object.entries(wanted))
			expectations[name](result, want, calls)
	} catch (error) {
		if (misuse === undefined || error.code === 'ERR_ASSERTION') throw error
		assert.ok(error.message.includes(misuse), error.message)
	} finally {
		for (const resolve of late) resolve(null)
	}
}

function signalOf({ afterMs, reason }) {
	if (afterMs < 0) return AbortSignal.abort(reason)
	const controller = new AbortController()
	setTimeout(() => controller.abort(reason), afterMs)
	return controller.signal
}
