/*
 * The given corpora through the package, as the library's own runner
 * performs them over C.
 */
import { test } from 'node:test'
import { check, corpus, disposeAll } from './corpus.mjs'

for (const [file, isolation] of [
	['typescript.jsonl', 'worker-thread'],
	['typescript.jsonl', 'process'],
	['python.jsonl', 'process']
])
	test(`${file} on ${isolation}`, async (t) => {
		for (const one of corpus(file))
			await t.test(one.name, () => check(one, isolation))
		await disposeAll()
	})
