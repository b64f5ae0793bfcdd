/*
 * What a host function resolves to, as JSON: what passes, what is refused, and
 * that nothing of the host's own code is run twice or gets out.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import vm from 'node:vm'
import { createRuntime } from '../index.mjs'

const runtime = createRuntime()
after(() => runtime.dispose())

/* What the program sees of a host function's value: [text] or the refusal. */
async function through(value, returns = 'JSON.stringify(got)') {
	const { value: seen, error } = await runtime.run({
		program: `try { const got = await t.get(null); return [${returns}] }
			catch (error) { return error.message }`,
		bindings: [{ global: 't', functions: { get: () => value } }]
	})
	assert.equal(error, undefined, error?.message)
	return seen
}

const LOSSY = 'binding resolution must be lossless JSON'

/* A value of its own kind at every depth and place. */
const nested = (value) => [value, { a: value, b: [value, { c: value }] }]

const strings = [
	'', 'a', '"\\/', '\b\t\n\f\r\0\x1f\x7f', 'é€\u07ff\u0800\uffff', '😀\u{10ffff}',
	'\ud800', 'x\udc00y', '\udc00\ud800', '\ud83d\ude00\ud83d', '\u2028\u2029',
	'x'.repeat(5000), 'é'.repeat(300), '\ud800'.repeat(400), '"'.repeat(256)
]
const numbers = [
	0, 1, -1, 9, 10, 99, 100, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 53, 2 ** 53 + 2,
	1e21, 1e-7, 5e-324, 1.7976931348623157e308, 0.1, -1.5, 123456789012345680000
]

for (const [name, value] of [
	['scalars', [null, true, false]],
	['strings', strings],
	['strings as keys', Object.fromEntries(strings.map((s, i) => [s, i]))],
	['numbers', numbers],
	['empty containers', [[], {}, [[]], [{}]]],
	['integer keys', { b: 1, 2: 2, 1: 1 }],
	['a null prototype', Object.assign(Object.create(null), { a: 1 })],
	['__proto__ as a key', JSON.parse('{"__proto__":{"x":1},"constructor":2}')],
	['toJSON as data', { toJSON: 1 }],
	['a frozen value', Object.freeze({ a: Object.freeze([1]) })],
	['another realm', vm.runInNewContext('({ a: [1, { b: [] }] })')]
])
	test(`${name} arrive as they are`, async () => {
		assert.deepEqual(await through(nested(value)), [JSON.stringify(nested(value))])
		assert.deepEqual(await through(value), [JSON.stringify(value)])
	})

test('a value seen twice without a cycle is fine', async () => {
	const shared = { a: [1] }
	assert.deepEqual(await through([shared, shared, { shared }]), [
		'[{"a":[1]},{"a":[1]},{"shared":{"a":[1]}}]'
	])
})

test('any depth', async () => {
	let value = 'leaf'
	for (let i = 0; i < 100_000; i++) value = i % 2 ? [value] : { k: value }
	const depth = '(() => { let d = 0; for (let v = got; typeof v === "object"; d++) v = v.k ?? v[0]; return d })()'
	assert.deepEqual(await through(value, depth), [100_000])
})

test('large values: the memory grows and is given back', async () => {
	const rows = Array.from({ length: 40_000 }, (_, id) => ({ id, text: 'x'.repeat(100) }))
	for (const many of [rows, 'é'.repeat(5_000_000)])
		assert.deepEqual(await through(many, 'got.length'), [many.length])
	assert.deepEqual(await through({ small: 1 }), ['{"small":1}'])
})

class Point {
	x = 1
}
const cycle = { deep: [{}] }
cycle.deep[0].up = cycle
const deepCycle = []
deepCycle.push([[[[[[[[[[[[[[[[[[deepCycle]]]]]]]]]]]]]]]]]])

/* `depth` containers around a value. */
const within = (depth, value) =>
	depth === 0 ? value : within(depth - 1, depth % 2 ? [value] : { a: value })
/* A cycle of `length` containers that begins so many levels down. */
function cycleAt(depth, length) {
	const first = {}
	first.a = within(length - 1, first)
	return within(depth, first)
}
/* On either side of where the walk looks through the levels one by one. */
const deepCycles = [14, 15, 16, 17, 20, 40, 1000].flatMap((depth) =>
	[1, 2, 5].map((length) => cycleAt(depth, length))
)
const decorated = Object.assign([1], { more: 1 })
const hidden = Object.defineProperty([1], 'more', { value: 1 })
const symbolic = Object.assign([1], { [Symbol('s')]: 1 })

for (const [name, value] of [
	['undefined', undefined],
	['a function', () => 1],
	['a symbol', Symbol('x')],
	['a BigInt', 1n],
	['NaN', NaN],
	['Infinity', Infinity],
	['-0', -0],
	['a Date', new Date(0)],
	['a Map', new Map()],
	['a Set', new Set()],
	['a RegExp', /x/],
	['an Error', new Error('x')],
	['a Promise inside', { p: Promise.resolve(1) }],
	['a typed array', new Uint8Array(2)],
	['a Buffer', Buffer.from('x')],
	['a boxed primitive', Object(1)],
	['a class instance', new Point()],
	['an object with a prototype', Object.create({ a: 1 })],
	['a subclass of Array', new (class extends Array {})()],
	['a hole', [1, , 2]],
	['a hole beside an extra property', Object.assign([, 1], { x: 1 })],
	['an array with more properties', decorated],
	['an array with a hidden property', hidden],
	['an array with a symbol', symbolic],
	['a symbol key', { [Symbol('s')]: 1 }],
	['a hidden property', Object.defineProperty({}, 'x', { value: 1 })],
	['a cycle', cycle],
	['a deep cycle', deepCycle],
	['a cycle 20 levels deep', cycleAt(20, 1)],
	['a cycle of the 17th and the 20th level', cycleAt(17, 4)],
	['arguments', (function () { return arguments })(1)],
	['a Date of another realm', vm.runInNewContext('new Date(0)')],
	['a class of another realm', vm.runInNewContext('new (class Object {})()')],
	['a forged Object.prototype', Object.create(Object.create(null, {
		constructor: { value: function Object() {} }
	}))]
])
	test(`${name} is refused`, async () => {
		assert.equal(await through(value), LOSSY)
		if (name !== 'undefined') assert.equal(await through({ a: [value] }), LOSSY)
		assert.equal(await through([undefined]), LOSSY)
	})

test('a cycle is found at every depth, and what is seen twice is none', async () => {
	for (const value of deepCycles) assert.equal(await through(value), LOSSY)
	for (const depth of [15, 16, 17, 20, 1000]) {
		const twice = within(depth, [{}])
		const text = JSON.stringify([twice, twice])
		assert.deepEqual(await through([twice, twice]), [text])
	}
})

/* Arrays of many elements are looked at in another way than small ones. */
const many = (more) => more(Array.from({ length: 1000 }, (_, i) => ({ i })))

test('a large array is read as a small one', async () => {
	const text = JSON.stringify(many((array) => array))
	for (const array of [
		many((array) => array),
		many(Object.freeze),
		new Proxy(many((array) => array), {}),
		vm.runInNewContext('Array.from({ length: 1000 }, (_, i) => ({ i }))')
	])
		assert.deepEqual(await through(array), [text])
})

for (const [name, more] of [
	['a hole', (array) => (delete array[500], array)],
	['a hole at the end', (array) => ((array.length = 2000), array)],
	['one more property', (array) => Object.assign(array, { more: 1 })],
	['a property and a hole', (array) => (delete array[0], Object.assign(array, { more: 1 }))],
	['a hidden property', (array) => Object.defineProperty(array, 'more', { value: 1 })],
	['a symbol', (array) => Object.assign(array, { [Symbol('s')]: 1 })],
	['a hidden symbol', (array) => Object.defineProperty(array, Symbol('s'), { value: 1 })],
	['a constructor of its own', (array) => Object.assign(array, { constructor: Array })],
	['words for the inspector', (array) => Object.assign(array, {
		[Symbol.for('nodejs.util.inspect.custom')]: () => '[ ... 1000 more items, [length]: 1000 ]'
	})],
	['a tag that nobody may ask', (array) => Object.defineProperty(array, Symbol.toStringTag, {
		get: () => process.exit(1)
	})],
	['a class of its own', (array) => Object.setPrototypeOf(array, class extends Array {}.prototype)],
	['a proxy that lists more', (array) => new Proxy(array, {
		ownKeys: (target) => [...Reflect.ownKeys(target), 'more']
	})]
])
	test(`a large array with ${name} is refused`, async () => {
		assert.equal(await through(many(more)), LOSSY)
	})

test('a hole is one with an index on Array.prototype too', async () => {
	const array = many((all) => (delete all[500], all))
	Array.prototype[500] = { i: 500 }
	try {
		assert.equal(await through(array), LOSSY)
	} finally {
		delete Array.prototype[500]
	}
})

test('a getter is read once', async () => {
	let reads = 0
	const value = {
		get a() {
			return { n: ++reads }
		}
	}
	assert.deepEqual(await through({ value }), ['{"value":{"a":{"n":1}}}'])
	assert.equal(reads, 1)
})

test('toJSON is not asked', async () => {
	const prototype = { toJSON: () => 'hidden' }
	Object.prototype.toJSON = Array.prototype.toJSON = String.prototype.toJSON = () => 'hidden'
	try {
		assert.deepEqual(await through({ a: ['x'] }, 'got.a[0]'), ['x'])
	} finally {
		delete Object.prototype.toJSON
		delete Array.prototype.toJSON
		delete String.prototype.toJSON
	}
	assert.equal(await through(Object.create(prototype)), LOSSY)
	assert.equal(await through({ toJSON: () => 1 }), LOSSY)
})

const thrower = (trap) =>
	new Proxy({}, { [trap]: () => { throw new Error('mine') } })
const { proxy: revoked, revoke } = Proxy.revocable([], {})
revoke()

for (const [name, make] of [
	['a throwing getter', () => ({ get a() { throw new Error('mine') } })],
	['a getter that throws nothing', () => ({ get a() { throw undefined } })],
	['a proxy without a prototype to tell', () => thrower('getPrototypeOf')],
	['a proxy without keys to tell', () => thrower('ownKeys')],
	['a proxy without properties to tell', () => new Proxy({ a: 1 }, {
		getOwnPropertyDescriptor() { throw new Error('mine') }
	})],
	['a revoked proxy', () => ({ revoked })]
])
	test(`${name} is a refused value and no more`, async () => {
		assert.equal(await through([make()]), LOSSY)
	})

test('a proxy is taken at its first word', async () => {
	let reads = 0
	const liar = new Proxy({ a: 1 }, { get: () => (reads++ === 0 ? 'first' : undefined) })
	assert.deepEqual(await through([liar]), ['[{"a":"first"}]'])
	assert.equal(reads, 1)
})

test('a getter that changes what is being read', async () => {
	const value = {
		get a() {
			delete this.b
			return 1
		},
		b: 2
	}
	assert.equal(await through(value), LOSSY)
	const list = [1, 2, 3]
	Object.defineProperty(list, 0, { enumerable: true, get: () => ((list.length = 1), 0) })
	assert.equal(await through(list), LOSSY)
})

test('arguments and values come as plain values', async () => {
	const given = []
	const text = '{"__proto__":{"x":1},"b":[1e+21,-5,"\\ud800"],"a":null}'
	const { value } = await runtime.run({
		program: `await t.take(JSON.parse(${JSON.stringify(text)})); return JSON.parse(${JSON.stringify(text)})`,
		bindings: [{ global: 't', functions: { take: (v) => (given.push(v), null) } }]
	})
	for (const got of [given[0], value]) {
		assert.equal(JSON.stringify(got), text)
		assert.equal(Object.getPrototypeOf(got), Object.prototype)
		assert.ok(Object.hasOwn(got, '__proto__'))
	}
})
