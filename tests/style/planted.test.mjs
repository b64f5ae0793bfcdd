/*
 * The checks of scripts/ are only worth something if they fail: each is given
 * a small tree with a planted violation, and one without.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const scripts = join(dirname(fileURLToPath(import.meta.url)), '../../scripts')
const { functions } = createRequire(import.meta.url)('../../scripts/c-text.js')

/* Lays out `files` { path: text } in a fresh folder and runs `check` on it. */
function run(check, files, args = (root) => [root]) {
	const root = mkdtempSync(join(tmpdir(), 'capsid-style-'))
	try {
		for (const [name, text] of Object.entries(files)) {
			mkdirSync(dirname(join(root, name)), { recursive: true })
			writeFileSync(join(root, name), text)
		}
		const done = spawnSync(join(scripts, check), args(root), {
			encoding: 'utf8'
		})
		assert.equal(done.error, undefined)
		return { ok: done.status === 0, text: done.stdout + done.stderr }
	} finally {
		rmSync(root, { recursive: true })
	}
}

const lines = (count, text) => `${text}\n`.repeat(count)

test('layers: an include of a lower layer passes', () => {
	const { ok, text } = run('check-layers', {
		'src/base/buf.h': '',
		'src/json/walk.c': '#include "base/buf.h"\n#include <stdio.h>\n'
	})
	assert.ok(ok, text)
})

for (const [file, header] of [
	['src/base/buf.c', 'json/walk.h'],
	['src/json/walk.c', 'run/run.h'],
	['src/contract/names.c', 'engine/quickjs/engine.h'],
	['src/engine/quickjs/engine.c', 'run/run.h'],
	['src/run/run.c', 'engine/quickjs/realm/realm.h'],
	['src/isolation/thread.c', 'run/run.h'],
	['src/cli/run.c', 'sfi/sfi.h'],
	['src/cli/run.c', '../sfi/sfi.h'],
	['bench/bench.c', 'base/buf.h'],
	['src/strip/wasm/strip.c', 'sfi/sfi.h'],
	['src/json/walk.c', 'nowhere/file.h']
])
	test(`layers: ${file} may not include ${header}`, () => {
		const files = { [file]: `/* x */\n#include "${header}"\n` }
		if (header.startsWith('..')) files['src/sfi/sfi.h'] = ''
		else if (!header.startsWith('nowhere')) files[`src/${header}`] = ''
		const { ok, text } = run('check-layers', files)
		assert.ok(!ok)
		assert.match(text, new RegExp(`${file}:2: "`))
	})

test('layers: the engine may not include the public API', () => {
	const { ok } = run('check-layers', {
		'src/engine/quickjs/e.c': '#include <capsid/run.h>\n'
	})
	assert.ok(!ok)
})

test('layers: a folder without a rule is refused', () => {
	assert.ok(!run('check-layers', { 'src/new/a.c': '#include <a.h>\n' }).ok)
})

test('sizes: a function of 100 lines passes, one of 101 does not', () => {
	const make = (count) => ({
		'src/a.c': `static int f(int x)\n{\n${lines(count - 3, '\tx++;')}}\n`
	})
	assert.ok(run('check-sizes', make(100)).ok)
	const { ok, text } = run('check-sizes', make(101))
	assert.ok(!ok)
	assert.match(text, /src\/a\.c:1: f has 101 lines/)
	assert.match(run('check-sizes', make(61)).text, /warning: .* 61 lines/)
})

test('sizes: a waiver with a reason covers it, a stale one fails', () => {
	const long = `int f(void)\n{\n${lines(150, ';')}}\n`
	const waiver = { 'scripts/waivers.txt': 'src/a.c:f one table\n' }
	assert.ok(run('check-sizes', { 'src/a.c': long, ...waiver }).ok)
	assert.ok(!run('check-sizes', { 'src/a.c': 'int x;\n', ...waiver }).ok)
	const bare = { 'scripts/waivers.txt': 'src/a.c:f\n' }
	assert.ok(!run('check-sizes', { 'src/a.c': long, ...bare }).ok)
})

test('sizes: a file of 1,001 lines fails', () => {
	assert.ok(run('check-sizes', { 'src/a.c': lines(1000, '') }).ok)
	assert.ok(!run('check-sizes', { 'src/a.c': lines(1001, '') }).ok)
})

test('sizes: the measurer is not fooled by literals and directives', () => {
	const found = functions(`#include <x.h>
#define MANY(x) { \\
	x }
extern "C" {
struct a { int b; };
static const int t[] = { 1, f('{'), 3 };
static const struct v table = (struct v){ .f = g };
/* { */
__attribute__((format(printf, 1, 2))) int
one(const char *s, ...) __attribute__((cold))
{
	puts("}{"); // {
#if X
	if (a) {
#else
	if (b) {
#endif
		s = '{';
	}
	return 0;
}
CAPSID_API void two(void (*f)(int x))
{
	struct s y = { 1 };
}
}
`)
	assert.deepEqual(
		found.map((f) => [f.name, f.line, f.lines]),
		[
			['one', 9, 13],
			['two', 22, 4]
		]
	)
})

test('format: a wrongly indented file fails', () => {
	const args = (root) => [`${root}/a.c`]
	const good = 'int f(void)\n{\n\treturn 0;\n}\n'
	assert.ok(run('check-format', { 'a.c': good }, args).ok)
	const bad = good.replace('\t', '    ')
	assert.ok(!run('check-format', { 'a.c': bad }, args).ok)
})

test('exports: a library with a stray or a missing name fails', () => {
	const root = mkdtempSync(join(tmpdir(), 'capsid-style-'))
	try {
		const c = join(root, 'stray.c')
		writeFileSync(c, 'int stray(void) { return 0; }\n')
		const so = join(root, 'stray.so')
		const made = spawnSync('gcc', ['-shared', '-fPIC', '-o', so, c])
		assert.equal(made.status, 0)
		const done = spawnSync(join(scripts, 'check-exports'), [so], {
			encoding: 'utf8'
		})
		assert.notEqual(done.status, 0)
		assert.match(done.stdout, /exported but not declared: stray/)
		assert.match(done.stdout, /declared but not exported: capsid_run\n/)
	} finally {
		rmSync(root, { recursive: true })
	}
})

test('links: a symbolic link fails', () => {
	const links = (root) => spawnSync(join(scripts, 'check-links'), [root])
	const root = mkdtempSync(join(tmpdir(), 'capsid-style-'))
	try {
		mkdirSync(join(root, 'docs'))
		writeFileSync(join(root, 'a.txt'), '')
		assert.equal(links(root).status, 0)
		symlinkSync('../a.txt', join(root, 'docs/b.txt'))
		const { status, stdout } = links(root)
		assert.equal(status, 1)
		assert.match(stdout.toString(), /docs\/b\.txt -> \.\.\/a\.txt/)
	} finally {
		rmSync(root, { recursive: true })
	}
})

/* A JUnit file of CTest's: one test case a name, each with its output. */
const junit = (cases) =>
	Object.entries(cases)
		.map(
			([name, [status, output]]) =>
				`\t<testcase name="${name}" classname="${name}" time="0" status="${status}">\n` +
				(status === 'fail' ? '\t\t<failure message=""/>\n' : '') +
				`\t\t<system-out>${output}</system-out>\n\t</testcase>\n`
		)
		.join('')

for (const [name, status, output, want] of [
	['a failure is one', 'fail', '', '0\t1\t0'],
	['a count of its own counts', 'run', '[  PASSED  ] 4 test', '4\t0\t0'],
	[
		'a count of its own with failures counts',
		'fail',
		'[  PASSED  ] 3 test\n[  FAILED  ] 1 test',
		'3\t1\t0'
	]
])
	test(`tally: ${name}`, () => {
		const files = { 'all.xml': junit({ 'unit/it': [status, output] }) }
		const { ok, text } = run('tally', files, (root) => [
			'stage',
			`${root}/all.xml`,
			status === 'fail' ? '8' : '0'
		])
		assert.ok(ok, text)
		assert.equal(text, `stage\tunit\t${want}\n`)
	})

test('tally: a status that no test explains is a failure', () => {
	const { text } = run(
		'tally',
		{ 'all.xml': junit({ 'unit/it': ['run', ''] }) },
		(root) => ['stage', `${root}/all.xml`, '8']
	)
	assert.match(text, /^stage\tctest ended with status 8\t0\t1\t0$/m)
})
