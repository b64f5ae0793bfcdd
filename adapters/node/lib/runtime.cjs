/*
 * Runtimes and their runs. The addon names each by a number; what belongs to a
 * number while it lives is in the maps here, and nowhere else, so that nothing
 * of a run outlives it.
 */
'use strict'
const { AsyncResource } = require('node:async_hooks')
const { addAbortListener } = require('node:events')
const { isNativeError } = require('node:util').types
const native = require('./load.cjs')
const { writer } = require('./json.cjs')
const { checkOptions } = require('./options.cjs')
const { Assembly } = require('./pieces.cjs')
const { checkRequest } = require('./request.cjs')

const RESOLUTION = 'binding resolution must be lossless JSON'

const runs = new Map() /* number → Run */
const endings = new Map() /* number of a runtime → what dispose() waits for */
const write = writer(native.answerIn)

/* Text of what was thrown or given as a reason, whatever it is. */
function textOf(value, ifNone) {
	try {
		const text =
			value instanceof Error || isNativeError(value) ? value.message : value
		return String(text)
	} catch {
		return ifNone
	}
}

function reasonOf(signal) {
	try {
		return String(signal.reason)
	} catch {
		return 'aborted for an unrenderable reason'
	}
}

/* A signal that runs wait for → those runs and the one listener for them all:
 * one for each run would have Node.js warn of a leak. */
const signals = new WeakMap()

function listen(signal, run) {
	let entry = signals.get(signal)
	if (entry === undefined) {
		const heard = new Set()
		const fire = () => {
			const reason = reasonOf(signal)
			signals.delete(signal)
			for (const one of heard) native.abort(one.id, reason)
		}
		/* no other listener can keep the event from this one */
		entry = { heard, listener: addAbortListener(signal, fire) }
		signals.set(signal, entry)
	}
	entry.heard.add(run)
}

function unlisten(signal, run) {
	const entry = signals.get(signal)
	if (!entry?.heard.delete(run) || entry.heard.size !== 0) return
	signals.delete(signal)
	entry.listener[Symbol.dispose]()
}

/* One run, from start to its outcome. */
class Run extends AsyncResource {
	constructor(runtime, handle, onLog, request) {
		super('CapsidRun')
		this.runtime = runtime /* not collected while the run lives */
		this.handle = handle
		this.onLog = onLog
		this.request = request
		this.link = { members: request.members, over: false }
		this.assembly = undefined /* of a text that arrives in pieces */
		this.failure = undefined /* why it could not be put together */
		this.signal = request.signal
		this.id = 0
		this.outcome = new Promise((resolve, reject) => {
			this.resolve = resolve
			this.reject = reject
		})
	}

	/* What the caller did wrong rejects the outcome; a signal's own words may
	 * throw as well. */
	start() {
		const { handle, signal } = this
		const { program, names } = this.request
		this.request = undefined
		try {
			let mode /* no signal, one that is heard, or why it has fired */
			if (signal?.aborted) {
				mode = reasonOf(signal)
			} else if (signal !== undefined) {
				listen(signal, this)
				mode = true
			}
			this.id = native.start(handle, program, names, mode)
			runs.set(this.id, this)
		} catch (error) {
			this.reject(error)
			this.end()
		}
	}

	/* A part of the text that the next call or the end lacks. */
	piece(text, first) {
		if (first) {
			this.assembly = new Assembly()
			this.failure = undefined
		}
		if (this.failure !== undefined) return
		try {
			this.assembly.add(text)
		} catch (error) {
			this.failure = error
		}
	}

	/* The value of `json`, or of the pieces that arrived instead of it. */
	parse(json) {
		if (json !== undefined) return JSON.parse(json)
		const { assembly, failure } = this
		this.assembly = this.failure = undefined
		if (failure !== undefined) throw failure
		return assembly.take()
	}

	finish(json, code, message) {
		if (code !== undefined) {
			this.reject(Object.assign(new Error(message), { code }))
		} else {
			/* a text may be more than this process has memory for */
			try {
				this.resolve(this.parse(json))
			} catch (error) {
				this.reject(error)
			}
		}
		this.end()
	}

	end() {
		this.link.over = true
		this.link.members = undefined
		if (this.signal !== undefined) unlisten(this.signal, this)
	}

	/* As parse(); what it throws is for the program. */
	argument(json) {
		try {
			return this.parse(json)
		} catch {
			throw new Error('the argument is too long for Node.js')
		}
	}
}

/* A call of the program's; never throws. */
function answer(run, call, index, json) {
	const { link } = run
	let value
	try {
		const argument = run.argument(json)
		const { global, functions, name } = link.members[index]
		const member = Object.hasOwn(functions, name) ? functions[name] : undefined
		if (typeof member !== 'function')
			throw new Error(`unknown binding ${JSON.stringify(`${global}.${name}`)}`)
		value = member(argument)
	} catch (error) {
		give(link, call, error, true)
		return
	}
	settle(link, call, value)
}

/* What a function answered, in time. If that never settles, it keeps nothing
 * of the run but its link. */
async function settle(link, call, answer) {
	let value
	let failed = false
	try {
		value = await answer
	} catch (error) {
		value = error
		failed = true
	}
	give(link, call, value, failed)
}

/*
 * A program decides how many of its calls are answered together. So much is
 * written in a turn of the event loop; other answers wait for the next, in
 * order.
 */
const TURN_BYTES = 1 << 20
const EACH_BYTES = 256 /* what an answer costs beside its text */
let written = 0 /* since the loop was last known to turn */
let unwritten = []
let next = 0 /* of those */

function give(link, call, value, failed) {
	if (link.over) return
	if (written < TURN_BYTES && unwritten.length === 0)
		giveNow(call, value, failed)
	else unwritten.push({ link, call, value, failed })
}

function giveNow(call, value, failed) {
	if (failed) {
		const message = textOf(value, 'a host function threw an unrenderable value')
		native.reject(call, message)
		written += message.length
	} else {
		const length = write(value)
		if (length < 0) native.reject(call, RESOLUTION)
		else native.resolve(call, length)
		/* how far a value that is not JSON was read is not known */
		written += length < 0 ? TURN_BYTES >> 6 : length
	}
	written += EACH_BYTES
	if (written >= TURN_BYTES) setImmediate(giveMore)
	linger()
}

function giveMore() {
	written = 0
	while (next < unwritten.length && written < TURN_BYTES) {
		const { link, call, value, failed } = unwritten[next]
		unwritten[next++] = undefined
		if (!link.over) giveNow(call, value, failed)
	}
	if (next < unwritten.length) return
	unwritten = []
	next = 0
}

/* When all answers that are ready are given: what comes of them may be there
 * in a moment. */
let lingers = false
function linger() {
	if (lingers) return
	lingers = true
	queueMicrotask(() => {
		lingers = false
		native.linger()
	})
}

/*
 * Runs that were asked for together start a few at a time, so that two
 * thousand of them do not stop the event loop.
 */
const BURST = 100
let burst = 0 /* since the loop was last known to turn */
let waiting = []

function begin(run) {
	if (burst < BURST) {
		burst++
		run.start()
	} else {
		if (waiting.length === 0) setImmediate(beginSome)
		waiting.push(run)
	}
}

function beginSome() {
	const now = waiting.splice(0, BURST)
	burst = now.length
	for (const run of now) run.start()
	if (waiting.length > 0) setImmediate(beginSome)
}

/* Before a runtime is gone. */
function beginAllOf(runtime) {
	const now = waiting.filter((run) => run.runtime === runtime)
	waiting = waiting.filter((run) => run.runtime !== runtime)
	for (const run of now) run.start()
}

native.listen({
	piece(id, text, first) {
		runs.get(id).piece(text, first)
	},
	call(id, call, index, argument) {
		const run = runs.get(id)
		run.runInAsyncScope(answer, undefined, run, call, index, argument)
	},
	log(id, text) {
		const run = runs.get(id)
		try {
			run.runInAsyncScope(run.onLog, undefined, text)
		} catch (error) {
			/* the embedder's mistake, but not the run's */
			process.nextTick(() => {
				throw error
			})
		}
	},
	done(id, json, code, message) {
		const run = runs.get(id)
		runs.delete(id)
		if (waiting.length === 0) burst = 0
		run.finish(json, code, message)
	},
	gone(id) {
		const resolve = endings.get(id)
		endings.delete(id)
		resolve?.()
	},
	more() {
		setImmediate(native.drain)
	}
})

/* A runtime that was forgotten, not disposed. */
const forgotten = new FinalizationRegistry(native.dispose)

function afterDisposal() {
	const error = new TypeError('run() after disposal')
	error.code = 'CAPSID_EDISPOSED'
	return error
}

class Runtime {
	#id
	#options
	#disposal

	constructor(options) {
		const { onLog, ...rest } = options
		this.#id = create(rest, onLog !== undefined)
		this.#options = options
		forgotten.register(this, this.#id, this)
	}

	get language() {
		return this.#options.language
	}

	get isolation() {
		return this.#options.isolation
	}

	async run(request) {
		if (this.#disposal !== undefined) throw afterDisposal()
		const run = new Run(
			this,
			this.#id,
			this.#options.onLog,
			checkRequest(request)
		)
		begin(run)
		return run.outcome
	}

	dispose() {
		this.#disposal ??= new Promise((resolve) => {
			forgotten.unregister(this)
			beginAllOf(this)
			endings.set(this.#id, resolve)
			native.dispose(this.#id)
		})
		return this.#disposal
	}

	async [Symbol.asyncDispose]() {
		await this.dispose()
	}
}

const snake = (name) =>
	name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/* The library's words, with the options' names as they are spelled here. */
function create(options, wantsLogs) {
	try {
		return native.create(...Object.values(options), wantsLogs)
	} catch (error) {
		for (const name of Object.keys(options))
			error.message = error.message.replaceAll(snake(name), name)
		throw error
	}
}

const createRuntime = (options) => new Runtime(checkOptions(options))

module.exports = { createRuntime }
