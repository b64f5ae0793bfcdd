/*
 * The conformance corpora in workerd, on every provider that needs a Worker:
 * one HTTP request a run, all of a corpus in one process. What only Cloudflare
 * itself enforces stands in unenforced.json.
 */
import { describe, test } from 'node:test'
import { runCorpus } from './corpus.mjs'
import { serve, services } from './kit.mjs'
import { performRemotely } from './remote.mjs'

const TOKEN = 'sesame'

function inWorkerd(name, which, corpus, path, only) {
	test(`${corpus}.jsonl on ${name}`, { timeout: 300_000 }, async (t) => {
		const worker = await serve(which)
		t.after(() => worker.stop())
		await runCorpus(t, corpus, corpus, (one) => worker.json(path, one), only)
	})
}

/* A workerd has one thread: two corpora at a time. */
describe('conformance', { concurrency: 2 }, () => {
	inWorkerd('IsolateRuntime', services.isolate, 'typescript', '/case')
	inWorkerd('IsolateRuntime', services.isolate, 'typescript-more', '/case')
	inWorkerd('DispatchRuntime, service binding', services.dispatch, 'typescript', '/case')
	/* but for who gives the stub it is the line above */
	inWorkerd('DispatchRuntime, dispatch namespace', services.dispatch, 'typescript', '/dispatched', /^(completion|bindings)\//)

	test('typescript.jsonl over /run from Node.js', { timeout: 300_000 }, async (t) => {
		const worker = await serve(services.runtime(TOKEN), { tcp: true })
		t.after(() => worker.stop())
		const url = `http://127.0.0.1:${worker.port}/run`
		await runCorpus(t, 'typescript', 'typescript', (one) => performRemotely(url, TOKEN, one))
	})
})
