/*
 * The rows of docs/dsh.md, each with what proves it: requests, and what must
 * come of them on upstream's provider and on ours. `both`: the same thing.
 * Expected results are compared as `matches` (parity.test.mjs) says.
 */
import { tools } from './support.mjs'

const value = (expected) => ({ logs: [], value: expected })
const failed = (kind, message, logs = []) => ({ logs, error: { kind, message } })
const thrown = (message) => failed('exception', message)
const rejected = (message) => ({ rejected: message })
const lossy = failed('invalid-output', 'program completion must be lossless JSON')
const never = () => new Promise(() => {})
const echo = async (args) => args
const fails = async () => {
	throw new Error('nope')
}

const CAUGHT = 'catch (e) { return [e instanceof ToolCallError, e.name, e.toolName, e.message] }'

function aborts(reason, ms) {
	if (ms === undefined) return () => AbortSignal.abort(reason)
	return () => {
		const controller = new AbortController()
		setTimeout(() => controller.abort(reason), ms)
		return controller.signal
	}
}

const program = (text, expected, rest = {}) => ({ program: text, both: expected, ...rest })
const apart = (text, upstream, ours, rest = {}) => ({ program: text, upstream, ours, ...rest })
const misuse = (message, ...bindings) => ({
	program: 'return 1',
	bindings: bindings.map((entry) => ({ functions: {}, ...entry })),
	both: rejected(message)
})

const results = {
	'A value is returned; returning nothing gives no `value`': [
		'same',
		program('return { a: [1, null] }', value({ a: [1, null] })),
		program('const a = 1', { logs: [] }),
		program('return null', value(null))
	],
	'The program is the strict body of an async function': [
		'same',
		program('await null; return [typeof this, typeof arguments]', value(['undefined', 'object'])),
		program('undeclared = 1', thrown(/^ReferenceError: undeclared is not defined/))
	],
	'Types are erased where they stand': [
		'same',
		program('interface P { x: number }\nconst p: P = { x: 1 } as P satisfies P\nreturn p!.x', value(1))
	],
	'`enum`, `namespace`, parameter properties': [
		'better',
		apart('\n enum E { A }', thrown(/^TypeScript enum is not supported/), thrown(/enum is not supported.*line 2, column 2/)),
		{ program: 'enum E { A = 5 }\nreturn E.A', only: 'ours', config: { eraseOnly: false }, both: value(5) }
	],
	'Casts written `<T>x`': [
		'better',
		apart('return <number>5', thrown(/angle-bracket syntax.*not supported/), value(5))
	],
	'A syntax error': [
		'better',
		apart('\nconst = 1', thrown(/^Unexpected token `=`/), thrown(/^SyntaxError: .*\n\s+at program\.ts:2:7$/))
	],
	'An error that is not caught': [
		'better',
		apart(
			'\n\nthrow Object.assign(new Error("a", { cause: "b" }), { code: 5 })',
			thrown(/^Error: a\n\s+at eval .*<anonymous>:6:21\)\n.*worker\.cjs/),
			thrown(/^Error: a\n\s+at .*\(program\.ts:3:\d+\) \{\n {2}code: 5\n\}\n {2}\[cause\]: b$/)
		)
	],
	'An error whose `stack` the program set': [
		'same',
		program('const e = new Error("m"); e.stack = "text"; throw e', thrown('text')),
		program('const e = new Error("m"); e.stack = undefined; throw e', thrown('m')),
		program('const e = new Error("m"); e.stack = 42; throw e', thrown('42'))
	],
	'What is thrown is no error': [
		'same',
		program('throw { code: 5 }', thrown('[object Object]')),
		program('throw Symbol("x")', thrown('Symbol(x)')),
		program('throw { toString() { throw 1 } }', thrown('program threw an unrenderable value'))
	],
	'A rejection that is handled later, or never': [
		'better',
		apart(
			`const p = Promise.reject(new Error('x'))
			await new Promise((r) => setTimeout(r, 20))
			try { await p } catch (e) { return e.message }`,
			failed('worker-exit', 'worker error: x'),
			value('x')
		)
	],
	'A throw in a timer or a microtask': [
		'better',
		apart(
			'setTimeout(() => { throw new Error("late") }, 1); await new Promise((r) => setTimeout(r, 500))',
			failed('worker-exit', 'worker error: late'),
			thrown(/^Error: late\n\s+at .*program\.ts:1:/)
		)
	],
	'Timers and calls that the end leaves behind': [
		'same',
		program('setTimeout(() => console.log("never"), 5000); void tools.never(1); return 1', value(1), {
			bindings: tools({ never })
		})
	],
	'State between runs': [
		'same',
		{ program: 'return typeof globalThis.leak', before: 'globalThis.leak = 1', both: value('undefined') }
	]
}

const output = {
	'`console` renders as `util.inspect` does, one entry a call': [
		'same',
		program(
			`console.log('%d', 5, 'x'); console.error({ a: { b: { c: { d: { e: { f: 1 } } } } } })
			console.warn(new Array(200).fill(1)); console.debug(-0, 1n, [undefined], new Map([[1, 2]]), class A {}); console.info()`,
			{
				logs: [
					'%d 5 x',
					'{\n  a: {\n    b: { c: { d: { e: [Object] } } }\n  }\n}',
					/\.\.\. 100 more items\n\]$/,
					'-0 1n [ undefined ] Map(1) { 1 => 2 } [class A]',
					''
				]
			}
		)
	],
	'Other methods of `console`': [
		'better',
		apart('console.table([{ a: 1 }])', thrown(/console\.table is not a function/), { logs: [/index.*a/] })
	],
	'`process.stdout.write` is an entry too, and calls back': [
		'same',
		program(
			`await new Promise((r) => process.stdout.write('a', 'utf8', r)); process.stderr.write(Buffer.from('b'))`,
			{ logs: ['a', 'b'] }
		)
	],
	'Bytes and numbers as a chunk': [
		'better',
		apart('process.stdout.write(new Uint8Array([97, 98]))', { logs: ['97,98'] }, { logs: ['ab'] }),
		apart('process.stdout.write(5)', { logs: ['5'] }, thrown(/ERR_INVALID_ARG_TYPE/))
	],
	'The ledger counts UTF-8 bytes of JSON, exactly': [
		'same',
		program('console.log("abc"); return "€"', { logs: ['abc'], value: '€' }, { config: { maxOutputBytes: 12 } }),
		program('console.log("abc"); return "€"', failed('output-limit', 'outer o'), {
			config: { maxOutputBytes: 11 }
		})
	],
	'Over the cap, what fits stays': [
		'same',
		program('console.log("x".repeat(100))', failed('output-limit', 'outer output exceeded 50 bytes', ['x'.repeat(14)]), {
			config: { maxOutputBytes: 50 }
		}),
		program('return 123', failed('output-limit', ''), { config: { maxOutputBytes: 4 } })
	],
	'Logs before a failure stay': [
		'same',
		program('console.log("kept"); for (;;) {}', failed('timeout', /compute/, ['kept']), { config: { computeMs: 200 } })
	]
}

const shapes = ['-0', 'NaN', '1n', '[1, , 2]', 'new Date(0)', '() => 1', '{ a: undefined }', 'new (class { x = 1 })()', '{ toJSON() { return 1 } }']

const values = {
	'What is not lossless JSON': [
		'same',
		...shapes.map((shape) => program(`return ${shape}`, lossy)),
		program('return tools.x(() => 1).catch((e) => e.message)', value('binding arguments must be lossless JSON'), {
			bindings: tools({ x: echo })
		}),
		program('return tools.x(1).catch((e) => e.message)', value('binding resolution must be lossless JSON'), {
			bindings: tools({ x: async () => undefined })
		})
	],
	'Depth': [
		'same',
		program(
			'let v = 0; for (let i = 0; i < 5000; i++) v = [v]; v = await tools.x(v); let n = 0; for (; Array.isArray(v); v = v[0]) n++; return n',
			value(5000),
			{ bindings: tools({ x: echo }) }
		)
	],
	'Getters and proxies in what the program gives': [
		'different',
		apart('return { get a() { return 1 } }', value({ a: 1 }), lossy),
		apart('return new Proxy({ a: 1 }, {})', value({ a: 1 }), lossy)
	],
	'Getters and proxies in what the host gives': [
		'same',
		program('return await tools.x(1)', value([{ a: 1 }, { b: 2 }]), {
			bindings: tools({
				x: async () => [
					{
						get a() {
							return 1
						}
					},
					new Proxy({ b: 2 }, {})
				]
			})
		})
	],
	'`__proto__` as a key, lone surrogates': [
		'same',
		program(`return Object.keys(await tools.x(JSON.parse('{ "__proto__": 1 }')))`, value(['__proto__']), {
			bindings: tools({ x: echo })
		}),
		program('return "\\ud800"', value('\ud800'))
	]
}

const bindings = {
	'A namespace has no prototype; any name is a function': [
		'same',
		program(
			`return [Object.getPrototypeOf(tools), Object.keys(tools), await tools['__proto__'](1), typeof tools.toString]`,
			value([null, ['__proto__', 'a b', ''], 1, 'undefined']),
			{ bindings: tools({ ['__proto__']: echo, 'a b': echo, '': echo }) }
		)
	],
	'A failed call is the declared class, else `Error`': [
		'same',
		program(`try { await tools.x(1) } ${CAUGHT}`, value([true, 'ToolCallError', 'x', 'nope']), {
			bindings: tools({ x: fails })
		}),
		program('return ns.x(1).catch((e) => [e.constructor === Error, e.message])', value([true, 'nope']), {
			bindings: [{ global: 'ns', functions: { x: fails } }]
		})
	],
	'The class itself': [
		'different',
		apart(
			`const e = new ToolCallError('a', 'b'); return [ToolCallError.name, e.toolName, e.message]`,
			value(['BindingCallError', 'a', 'b']),
			value(['ToolCallError', 'b', 'a']),
			{ bindings: tools({}) }
		)
	],
	'Calls made together run together, in order': [
		'same',
		program(
			'return await Promise.all([30, 20, 10].map((n) => tools.x(n)))',
			value([
				[30, 1],
				[20, 2],
				[10, 3]
			]),
			{
				make: () => {
					let calls = 0
					return tools({
						x: async (ms) => {
							const place = ++calls
							await new Promise((resolve) => setTimeout(resolve, ms))
							return [ms, place]
						}
					})
				}
			}
		)
	],
	'A member that is no function': [
		'same',
		program(`try { await tools.x(1) } ${CAUGHT}`, value([true, 'ToolCallError', 'x', 'unknown binding "tools.x"']), {
			bindings: tools({ x: 42 })
		})
	],
	'A host failure that cannot be rendered': [
		'better',
		{
			program: 'return await tools.x(1).catch((e) => e.message)',
			only: 'ours',
			both: value('a host function threw an unrenderable value'),
			bindings: tools({
				x: async () => {
					throw {
						toString() {
							throw 1
						}
					}
				}
			})
		},
		{ host: 'unrenderable', upstream: { died: true, says: /unhandled|Unhandled|triggerUncaughtException/ } }
	],
	'Misuse': [
		'same',
		misuse('binding global "$a" is not a usable identifier', { global: '$a' }),
		misuse('reserved binding global "console"', { global: 'console' }),
		misuse('duplicate binding global "a"', { global: 'a' }, { global: 'a' }),
		misuse('binding error class "b-" is not a usable identifier', {
			global: 'a',
			errorClass: { name: 'b-', memberNameProperty: 'm' }
		}),
		misuse(
			'duplicate injected global "b"',
			{ global: 'a', errorClass: { name: 'b', memberNameProperty: 'm' } },
			{ global: 'b' }
		),
		misuse('binding error member property "stack" is not usable', {
			global: 'a',
			errorClass: { name: 'E', memberNameProperty: 'stack' }
		})
	],
	'The first of several mistakes': [
		'different',
		{
			program: 'return 1',
			bindings: [
				{ global: 'a', functions: {}, errorClass: { name: '$b', memberNameProperty: 'm' } },
				{ global: '$c', functions: {} }
			],
			upstream: rejected('binding global "$c" is not a usable identifier'),
			ours: rejected('binding error class "$b" is not a usable identifier')
		}
	],
	'Names of bindings as names of the program’s own': [
		'different',
		apart('const tools = 1; return tools', thrown(/^SyntaxError: Identifier 'tools' has already/), value(1), {
			bindings: tools({ x: echo })
		}),
		apart('return typeof globalThis.tools', value('undefined'), value('object'), { bindings: tools({ x: echo }) })
	],
	'New members of a namespace': [
		'different',
		apart('tools.y = 1; return tools.y', value(1), thrown(/^TypeError: object is not extensible/), {
			bindings: tools({ x: echo })
		})
	]
}

const ends = {
	'`computeMs` ends a busy program, in a regular expression too': [
		'same',
		...['for (;;) {}', 'void tools.never(1); for (;;) {}', '/(a+)+$/.test("a".repeat(40) + "b")'].map((text) =>
			program(text, failed('timeout', 'compute budget exhausted (200ms busy)'), {
				config: { computeMs: 200 },
				bindings: tools({ never })
			})
		)
	],
	'`maxWallMs` ends an idle one': [
		'same',
		program('await new Promise(() => {})', failed('timeout', 'wall-clock ceiling reached (300ms)'), {
			config: { maxWallMs: 300 }
		})
	],
	'An abort, early or late': [
		'same',
		program('return 1', failed('abort', 'why'), { signal: aborts('why') }),
		program('const = 1', failed('abort', 'AbortError: This operation was aborted'), { signal: aborts() }),
		program('for (;;) {}', failed('abort', 'Error: why'), { signal: aborts(new Error('why'), 100) })
	],
	'A reason that cannot be rendered': [
		'better',
		apart(
			'return 1',
			{ rejected: /Cannot convert object to primitive value/ },
			failed('abort', 'aborted for an unrenderable reason'),
			{ signal: aborts(Object.create(null)) }
		)
	],
	'`process.exit(n)`': [
		'same',
		program('console.log("a"); process.exit(7)', failed('worker-exit', 'worker exited with code 7 before completing', ['a']))
	],
	'Out of memory': [
		'better',
		apart(
			'const a = []; for (;;) a.push(new Array(1e6).fill(1))',
			failed('worker-exit', /^worker error: .*memory/),
			failed('worker-exit', 'out of memory: heap limit 32 MiB'),
			{ config: { maxOldGenerationSizeMb: 32 } }
		)
	],
	'Too deep a recursion': [
		'same',
		program(
			'let n = 0; function f() { n++; f() } try { f() } catch (e) { return [e.name, n > 1000] }',
			value(['RangeError', true])
		)
	],
	'Disposal ends live runs and waits for them': [
		'same',
		{ program: 'for (;;) {}', disposed: true, both: failed('abort', 'runtime disposed') }
	],
	'A run after disposal': [
		'same',
		{ program: 'return 1', late: true, both: rejected('run() after disposal') }
	],
	'The time of a fresh `return 1 + 1`': ['better', { race: true }]
}

const walls = {
	'Files and modules': [
		'different',
		apart(`return typeof (await import('node:fs')).readFileSync`, value('function'), thrown(/could not load module 'node:fs'/))
	],
	'Network': ['different', apart('return typeof fetch', value('function'), value('undefined'))],
	'The host’s process': [
		'different',
		apart('return [typeof process.kill, process.argv.length > 0, process.cwd() !== "/"]', value(['function', true, true]), value(['undefined', false, false]))
	],
	'The port to the host': [
		'different',
		apart(
			`const { parentPort } = await import('node:worker_threads')
			parentPort.postMessage({ type: 'done', value: ['forged'] })
			for (;;) {}`,
			value('forged'),
			thrown(/could not load module/)
		)
	],
	'The environment is empty': [
		'same',
		program('return JSON.stringify(process.env)', value('{}'))
	],
	'Globals that both have': [
		'same',
		program(
			`return ['Buffer', 'URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder', 'AbortController', 'Event', 'EventTarget', 'structuredClone',
				'queueMicrotask', 'setTimeout', 'setInterval', 'setImmediate', 'atob', 'btoa', 'Intl', 'DOMException', 'eval']
				.filter((name) => globalThis[name] === undefined)`,
			value([])
		)
	],
	'Globals that only upstream has': [
		'different',
		apart(
			`return ['WebAssembly', 'Atomics', 'Blob', 'ReadableStream', 'MessageChannel', 'WebSocket', 'navigator']
				.filter((name) => globalThis[name] !== undefined).length`,
			value(7),
			value(0)
		)
	],
	'`process.version`': ['different', apart('return process.version', value(/^v2\d/), value('v0.0.0'))]
}

const configuration = {
	'The four fields: names, defaults, rules, messages': [
		'same',
		{ program: 'return 1', config: { computeMs: -1 }, both: rejected('config.computeMs must be a positive number, got -1') },
		{ program: 'return 1', config: { maxOutputBytes: 3 }, both: rejected('config.maxOutputBytes must be a safe integer of at least 4, got 3') },
		{ program: 'return 1', config: { maxWallMs: 2 ** 31 }, both: rejected(/^config\.maxWallMs must be at most 2147483647/) }
	],
	'A field that is not known': [
		'better',
		{ program: 'return 1', config: { isolatoin: 1 }, upstream: value(1), ours: rejected(/^config\.isolatoin is unknown; there are .*isolation/) },
		{
			program: 'return 1',
			config: { isolatoin: 'process' },
			upstream: rejected('config.isolatoin must be a positive number, got process'),
			ours: rejected(/^config\.isolatoin is unknown/)
		}
	],
	'Fractions of a millisecond': [
		'different',
		{
			program: 'for (;;) {}',
			config: { computeMs: 99.5 },
			upstream: failed('timeout', 'compute budget exhausted (99.5ms busy)'),
			ours: failed('timeout', 'compute budget exhausted (100ms busy)')
		}
	],
	'`maxOldGenerationSizeMb: 1`': [
		'better',
		{ host: 'heap', upstream: { died: true, says: /out of memory/ }, ours: { died: false, says: /so it is 8/ } }
	],
	'`language`, `isolation`, `eraseOnly`': [
		'better',
		{ program: 'return [x for x in range(3)]', only: 'python', config: { language: 'python' }, both: value([0, 1, 2]) }
	]
}

export const sections = { results, output, values, bindings, ends, walls, configuration }
