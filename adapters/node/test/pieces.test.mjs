/*
 * Long JSON texts in pieces add up to what JSON.parse makes of the whole: by
 * themselves in small pieces, and through a runtime in those that it uses.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { createRuntime } from '../index.mjs'

const { Assembly } = createRequire(import.meta.url)('../lib/pieces.cjs')
const executable =
	process.env.CAPSID_PIECES ??
	new URL('../../../build/bin/capsid-node-pieces', import.meta.url).pathname

/* What each text's pieces add up to, and how many there were. */
function assemble(texts) {
	const { stdout, status, stderr } = spawnSync(executable, {
		input: texts.map((text) => `${text}\n`).join(''),
		encoding: 'utf8',
		maxBuffer: 1 << 30
	})
	assert.equal(status, 0, stderr)
	const all = stdout.split('\n\n').slice(0, -1)
	assert.equal(all.length, texts.length)
	return all.map((pieces) => {
		const assembly = new Assembly()
		const list = pieces.split('\n')
		for (const piece of list) assembly.add(piece)
		return { value: assembly.take(), pieces: list.length, longest: Math.max(...list.map((p) => p.length)) }
	})
}

/* Every scalar, key, length and order, without recursion: values are deep. */
function outline(root) {
	const list = []
	const rest = [root]
	while (rest.length > 0) {
		const value = rest.pop()
		if (typeof value !== 'object' || value === null) {
			list.push(typeof value, Object.is(value, -0) ? '-0' : value)
			continue
		}
		const keys = Array.isArray(value) ? undefined : Object.keys(value)
		assert.equal(Object.getPrototypeOf(value), keys ? Object.prototype : Array.prototype)
		list.push(keys ?? 'array', (keys ?? value).length)
		if (!keys) rest.push(...value)
		else for (const key of keys) rest.push(Object.getOwnPropertyDescriptor(value, key).value)
	}
	return list.flat()
}

function same(value, expected, what) {
	const [a, b] = [outline(value), outline(expected)]
	assert.equal(a.length, b.length, what)
	for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) assert.equal(a[i], b[i], what)
}

function random(seed) {
	return (below) => {
		seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
		return Math.floor((seed / 2 ** 32) * below)
	}
}

/* Texts in which every token may be where a piece ends. */
function generator(seed, long) {
	const below = random(seed)
	const characters = ['a', 'é', '€', '😀', '"', '\\', '\n', '\u0001', '[', ']', '{', '}', ',', ':', '\ud800', '\udc00']
	const size = () => [below(8), below(8), below(8), below(100), below(long)][below(5)]
	/* containers with much in them are not in one another */
	const count = (depth) => (depth > 1 ? below(6) : size())
	const string = () => Array.from({ length: below(20) ? below(12) : size() }, () => characters[below(below(3) ? 16 : 4)]).join('')
	const key = () => (below(6) ? string() : ['__proto__', 'constructor', '', '0', '17', 'toString'][below(6)])
	const scalar = () =>
		[() => below(2000) - 999, () => below(1e9) / 7, () => [true, false, null, 1e300, 5e-324, 0][below(6)], string, string][below(5)]()
	function object(depth) {
		const made = {}
		for (let i = count(depth); i > 0; i--)
			Object.defineProperty(made, key(), { value: value(depth - 1), enumerable: true, configurable: true, writable: true })
		return made
	}
	function nest(depth) {
		let made = value(depth - 1)
		for (let i = size() % 2000; i > 0; i--) made = below(2) ? [made] : { [key()]: made }
		return made
	}
	function value(depth) {
		if (depth <= 0) return scalar()
		return [scalar, () => Array.from({ length: count(depth) }, () => value(depth - 1)), () => object(depth), () => nest(depth)][below(4)]()
	}
	return () => value(1 + below(3))
}

test('texts of every shape, in small pieces', () => {
	const next = generator(1, 300)
	const values = Array.from({ length: 2000 }, next)
	const texts = values.map((value) => JSON.stringify(value))
	const made = assemble(texts)
	made.forEach(({ value, longest }, i) => {
		same(value, JSON.parse(texts[i]), texts[i])
		assert.ok(longest < 2 * 64 + 1024)
	})
	assert.ok(made.filter(({ pieces }) => pieces > 3).length > 500)
})

test('a text a thousand times as long as a piece', () => {
	const texts = [
		'[' + Array(20_000).fill('{}').join() + ']',
		'['.repeat(50_000) + ']'.repeat(50_000),
		'{"k":'.repeat(50_000) + '[]' + '}'.repeat(50_000),
		'{"k":[1,'.repeat(9000) + '2' + ']}'.repeat(9000),
		JSON.stringify('x'.repeat(70_000)),
		JSON.stringify('\u0001é😀\ud800'.repeat(9000)),
		JSON.stringify({ ['k'.repeat(9000)]: { ['\n'.repeat(9000)]: 'v'.repeat(9000) }, after: 1 }),
		`[1,"",${JSON.stringify('é'.repeat(500))},[[]],{"":{}},{"":""}]`
	]
	assemble(texts).forEach(({ value, pieces }, i) => {
		same(value, JSON.parse(texts[i]), texts[i].slice(0, 40))
		assert.ok(pieces > (i < 7 ? 500 : 2))
	})
})

test('numbers that are longer than a piece', () => {
	const digits = Array.from({ length: 900 }, (_, i) => (i * 7 + 3) % 10).join('')
	/* halfway between two doubles, and a little above and below it */
	const half = '9007199254740993' /* 2^53 + 1 */
	const numbers = [
		`0.${'0'.repeat(400)}`,
		`0.${digits}`,
		`-0.${'0'.repeat(200)}${digits}`,
		`${digits.slice(0, 200)}.${digits}e-150`,
		`0.${'0'.repeat(320)}${digits}E+300`,
		`1.${'0'.repeat(2000)}`,
		`1.${'0'.repeat(2000)}1`,
		`${half}.${'0'.repeat(1000)}`,
		`${half}.${'0'.repeat(1000)}1`,
		`9007199254740992.${'9'.repeat(1000)}`,
		`1e-${'0'.repeat(100)}5`,
		`5e-${'9'.repeat(100)}`
	]
	const texts = numbers.flatMap((number) => [
		number,
		`[${number}]`,
		`[1,${number},2]`,
		`{"a":${number},"b":[${number}],"${'c'.repeat(100)}":${number}}`
	])
	assemble(texts).forEach(({ value }, i) => same(value, JSON.parse(texts[i]), texts[i]))
})

test('a property of a prototype is not asked for', () => {
	let asked = 0
	Object.defineProperty(Object.prototype, 'trap', {
		configurable: true,
		set() {
			asked++
		}
	})
	try {
		const [{ value }] = assemble([`{"trap":{"long":"${'x'.repeat(200)}"},"__proto__":{"trap":[${'1,'.repeat(200)}1]}}`])
		assert.deepEqual(Object.keys(value), ['trap', '__proto__'])
		assert.equal(Object.getPrototypeOf(value), Object.prototype)
		assert.equal(asked, 0)
	} finally {
		delete Object.prototype.trap
	}
})

test('arguments and completions of every length, through a runtime', async () => {
	const runtime = createRuntime({ maxValues: 0 })
	const next = generator(2, 9000)
	let long = 0
	for (let i = 0; i < 40; i++) {
		const value = [next(), next(), next()]
		let argument
		const functions = {
			get: () => value,
			put(given) {
				argument = given
				return null
			}
		}
		const { value: completion, error } = await runtime.run({
			program: 'const v = await t.get(0); await t.put(v); return v',
			bindings: [{ global: 't', functions }]
		})
		assert.equal(error, undefined)
		same(argument, value)
		same(completion, value)
		if (JSON.stringify(value).length > 32768) long++
	}
	await runtime.dispose()
	assert.ok(long > 10, `${long} long values`)
})

test('what a program does keeps its order around a long argument', async () => {
	const seen = []
	const runtime = createRuntime({ onLog: (text) => seen.push(text) })
	const { value } = await runtime.run({
		program: `
			console.log('a')
			const first = t.f('x'.repeat(1e6))
			console.log('b')
			const rest = [t.f('y'), t.f(Array(20000).fill('z')), t.f('w')]
			console.log('c')
			await Promise.all([first, ...rest])
			return 'v'.repeat(1e6)`,
		bindings: [{ global: 't', functions: { f: async (x) => (seen.push(x[0]), null) } }]
	})
	assert.deepEqual(seen, ['a', 'x', 'b', 'y', 'z', 'w', 'c'])
	assert.equal(value, 'v'.repeat(1e6))
	await runtime.dispose()
})
