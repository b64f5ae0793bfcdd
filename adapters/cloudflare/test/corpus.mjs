/*
 * A conformance corpus, case by case, through whatever performs one. What only
 * Cloudflare itself enforces stands in unenforced.json, by corpus or, where a
 * provider differs, by provider and corpus.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { judge } from './expect.mjs'
import { here, root } from './kit.mjs'

const unenforced = JSON.parse(readFileSync(join(here, 'test/unenforced.json'), 'utf8'))

function cases(corpus) {
	const text = readFileSync(join(root, `tests/conformance/${corpus}.jsonl`), 'utf8')
	return text.split('\n').filter(Boolean).map((line) => JSON.parse(line))
}

export async function runCorpus(t, corpus, skipped, perform, only = /./) {
	const left = unenforced[skipped] ?? {}
	const all = cases(corpus)
	const names = new Set(all.map(({ name }) => name))
	for (const name of Object.keys(left))
		assert.ok(names.has(name), `unenforced.json: no case ${name} in ${corpus}`)
	for (const one of all) {
		if (one.name in left || !only.test(one.name)) continue
		await t.test(one.name, async () => {
			assert.equal(judge(one, await perform(one)), undefined)
		})
	}
}
