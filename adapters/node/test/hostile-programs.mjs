/*
 * Programs written against their host: what `h` has is in hostile-host.mjs.
 * A family makes one from random numbers; `ms` is when its host gives it up.
 */
const SHAPES = {
	arrays: (n) => `Array(${n}).fill([])`,
	objects: (n) => `Array(${n}).fill({})`,
	numbers: (n) => `Array(${n}).fill(1)`,
	decimals: (n) => `Array.from({ length: ${n} }, (_, i) => 1 / (i + 3))`,
	pairs: (n) => `Array(${n >> 1}).fill({ a: 1 })`,
	keyed: (n) => `Array.from({ length: ${n >> 1} }, (_, i) => ({ ['k' + i]: 1 }))`,
	rows: (n) => `Array.from({ length: ${n / 21 | 0} }, (_, j) => {
		const o = {}
		for (let i = 0; i < 20; i++) o['k' + (i * 1000003 + j * 7).toString(36)] = 1
		return o })`,
	record: (n) => `(() => { const o = {}; for (let i = 0; i < ${n}; i++) o['k' + i] = i; return o })()`,
	indices: (n) => `(() => { const o = {}; for (let i = 0; i < ${n}; i++) o[i * 4099 + 1] = i; return o })()`,
	proto: (n) => `JSON.parse('[' + Array(${n >> 1}).fill('{"__proto__":{}}').join() + ']')`,
	named: (n) => `(() => { const o = Object.create(null); for (const k of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) o[k] = Array(${n >> 2}).fill(null); return o })()`,
	deepArrays: (n) => `(() => { let v = []; for (let i = 0; i < ${n}; i++) v = [v]; return v })()`,
	deepObjects: (n) => `(() => { let v = {}; for (let i = 0; i < ${n}; i++) v = { ['k' + i]: v }; return v })()`,
	texts: (n) => `Array.from({ length: ${n} }, (_, i) => 's' + i)`,
	longKeys: (n) => `(() => { const o = {}; for (let i = 0; i < ${n / 400 | 0}; i++) o['x'.repeat(16400) + i % 10 + (i / 10 | 0) % 10 + (i / 100 | 0)] = i; return o })()`,
	ascii: (n) => `'x'.repeat(${n * 60})`,
	escapes: (n) => `'\\u0001"'.repeat(${n * 5})`,
	wide: (n) => `'é漢😀'.repeat(${n * 4})`,
	halves: (n) => `'\\ud83d'.repeat(${n * 4})`
}

/* Around and above the limit on values, and far above it. */
const SIZES = [4_000, 30_000, 95_000, 260_000]

const big = `const a = {}; const b = Array(1000).fill(a)`

const FAMILIES = {
	...Object.fromEntries(
		Object.entries(SHAPES).flatMap(([name, shape]) => [
			[`argument of ${name}`, (pick) => ({
				program: `const v = ${shape(pick(SIZES))}; await h.take(v); await h.take(v); return 1`
			})],
			[`value of ${name}`, (pick) => ({ program: `return ${shape(pick(SIZES))}` })],
			[`calls in flight with ${name}`, (pick) => ({
				program: `const v = ${shape(pick([500, 5_000, 40_000]))}
					for (let i = 0; i < 200; i++) h.never(v).catch(() => {})
					await h.take(1); return v`
			})]
		])
	),
	'a huge tree from a short text': (pick) => ({
		program: `${big}; return await h.take(Array(${pick([90, 1000, 100_000])}).fill(b))`
	}),
	'a huge tree returned': (pick) => ({
		program: `${big}; return Array(${pick([90, 1000, 20_000])}).fill(b)`
	}),
	'trees in a loop': (pick) => ({
		program: `${big}; const v = Array(${pick([9, 90, 200])}).fill(b)
			for (;;) await h.take(v).catch(() => {})`
	}),
	'65 MB returned': (pick) => ({
		program: `return ${pick([
			`'x'.repeat(64e6)`,
			`'\\u0001'.repeat(1e7)`,
			`'é'.repeat(3e7)`,
			`Array(60).fill('x'.repeat(1e6))`
		])}`,
		ms: 1500,
		rare: true
	}),
	'the longest argument': (pick) => ({
		program: `const s = 'x'.repeat(16e6)
			return (await Promise.allSettled(Array.from({ length: ${pick([1, 3, 9])} }, () => h.take(s)))).length`,
		ms: 1500,
		rare: true
	}),
	'calls that nobody awaits': (pick) => ({
		program: `for (let i = 0; i < ${pick([60_000, 1_500_000])}; i++) h.take(i).catch(() => {}); return 1`,
		ms: 200
	}),
	'calls that never settle': () => ({
		program: `for (let i = 0; i < 65_000; i++) h.never(i).catch(() => {}); await h.take(1); return 1`,
		ms: 200
	}),
	'calls by ten thousand': () => ({
		program: `for (;;) await Promise.all(Array.from({ length: 10_000 }, (_, i) => h.take(i)))`
	}),
	'calls with a kilobyte': () => ({
		program: `const s = 'x'.repeat(1000); for (;;) await Promise.allSettled(Array.from({ length: 5000 }, () => h.take(s)))`
	}),
	'calls that sleep': () => ({
		program: `await Promise.all(Array.from({ length: 20_000 }, (_, i) => h.sleep(20))); return 1`
	}),
	'names that are not there': () => ({
		program: `for (let i = 0; ; i++) { try { await h['n' + i]() } catch {} if (i % 100 === 0) await h.take(i) }`
	}),
	'replies of a megabyte': () => ({
		program: `for (;;) await Promise.allSettled(Array.from({ length: 200 }, () => h.reply(1e6)))`
	}),
	'replies of many values': () => ({
		program: `for (;;) await Promise.allSettled(Array.from({ length: 200 }, () => h.rows(0)))`
	}),
	'rejections of a megabyte': () => ({
		program: `for (;;) await Promise.allSettled(Array.from({ length: 200 }, () => h.fail(1e6)))`
	}),
	'replies that are not JSON': () => ({
		program: `for (;;) await Promise.allSettled(Array.from({ length: 1000 }, () => h.lossy(0)))`
	}),
	'empty log lines': () => ({
		program: `for (;;) console.log('')`
	}),
	'short log lines': (pick) => ({
		program: `const s = 'l'.repeat(${pick([1, 30, 300])}); for (;;) process.stdout.write(s)`
	}),
	'long log lines': (pick) => ({
		program: `const s = 'x'.repeat(${pick([1e5, 1e6, 2e7])}); for (;;) process.stdout.write(s)`
	}),
	'log lines and calls': () => ({
		program: `for (let i = 0; ; i++) { console.log(i); h.take(i).catch(() => {}); if (i % 1000 === 0) await h.take(i) }`
	}),
	'log lines of objects': () => ({
		program: `const o = Array(100).fill({ a: { b: { c: { d: [1, 2, 3] } } } }); for (;;) console.log(o)`
	}),
	'a message of megabytes': (pick) => ({
		program: `throw new Error('${pick(['x', 'é', '\\u0001'])}'.repeat(5e6))`,
		ms: 600
	}),
	'a stack of megabytes': () => ({
		program: `const e = new Error('x'); e.stack = 'at x\\n'.repeat(1e6); throw e`,
		ms: 600
	}),
	'a deep stack': () => ({
		program: `const f = (n) => n === 0 ? null.x : f(n - 1) + 1; for (;;) try { f(500) } catch (e) { if (e.stack.length < 3) return 1; h.take(e.stack).catch(() => {}); await h.take(1) }`
	}),
	'timers': () => ({
		program: `for (let i = 0; i < 1e5; i++) setTimeout(() => h.take(i).catch(() => {}), i % 50); await new Promise(() => {})`
	}),
	'an exit in the middle': (pick) => ({
		program: `for (let i = 0; i < ${pick([10, 5000])}; i++) h.never('x'.repeat(1000)).catch(() => {}); process.exit(3)`
	}),
	'memory without end': () => ({ program: `const a = []; for (;;) a.push(Array(1e5).fill({}))` }),
	'recursion': () => ({ program: `const f = () => f() + 1; f()` }),
	'a hot loop behind calls': () => ({
		program: `for (let i = 0; i < 5000; i++) h.take(i).catch(() => {}); for (;;);`
	}),
	'lossy values': (pick) => ({
		program: `const v = Array(90_000).fill(1); v.push(${pick(['undefined', 'new Date()', '1n', '-0', 'v'])})
			try { await h.take(v) } catch {} return v`
	}),
	'a program of megabytes': () => ({ program: `const a: number[] = [${'1,'.repeat(5e5)}]; return a.length` }),
	'a program that is no program': () => ({ program: '('.repeat(100_000) }),
	'process: a huge tree': (pick) => ({
		program: `${big}; return await h.take(Array(${pick([90, 1000])}).fill(b))`,
		on: 'process',
		ms: 600,
		rare: true
	}),
	'process: calls and logs': () => ({
		program: `for (let i = 0; ; i++) { console.log(i); h.take([i]).catch(() => {}); if (i % 1000 === 0) await h.take(i) }`,
		on: 'process',
		ms: 600,
		rare: true
	}),
	'python: a huge tree': (pick) => ({
		program: `a = {}\nb = [a] * 1000\nreturn await h.take([b] * ${pick([90, 1000])})`,
		on: 'python',
		ms: 600,
		rare: true
	}),
	'python: values returned': (pick) => ({
		program: `return ${pick(['[{}] * 260000', '[{"k%d" % i: i} for i in range(45000)]', '"x" * 30000000'])}`,
		on: 'python',
		ms: 1000,
		rare: true
	}),
	'python: calls and logs': () => ({
		program: `import asyncio\nfor i in range(100000):\n  print(i)\n  asyncio.ensure_future(h.take([i]))\n  if i % 500 == 0: await h.take(i)`,
		on: 'python',
		ms: 600,
		rare: true
	})
}

function random(seed) {
	let state = seed
	return (below) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0
		return Math.floor((state / 2 ** 32) * below)
	}
}

/* `count` programs { family, program, on, ms }, the same for a seed; `only`:
 * of one family. */
export function hostilePrograms({ count, seed, only }) {
	const below = random(seed)
	const pick = (list) => list[below(list.length)]
	const names = Object.keys(FAMILIES).filter((name) => only === undefined || name === only)
	const programs = []
	for (let round = 0; programs.length < count; round++)
		for (const family of names) {
			const { rare, ...made } = FAMILIES[family](pick)
			if (rare && round % 5 !== 0 && only === undefined) continue
			programs.push({ on: 'thread', ms: pick([30, 60, 120]), ...made, family })
		}
	return programs.slice(0, count)
}
