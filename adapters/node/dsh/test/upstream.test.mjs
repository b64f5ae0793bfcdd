/*
 * Upstream's own cases (upstream-cases.mjs) on each provider: on upstream's,
 * which proves the expectation, and on ours, on both isolations.
 */
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { after, describe, test } from 'node:test'
import { cases, excepted, repeated } from './upstream-cases.mjs'
import { disposeShared, mount, providers, runOn } from './support.mjs'

after(disposeShared)

async function tryCase(provider, act) {
	const mounted = []
	try {
		await act({
			provider,
			run: (request) => runOn(provider, request),
			mount: async (config) => {
				const one = await mount(provider, config)
				mounted.push(one)
				return one
			}
		})
	} finally {
		for (const { fiber } of mounted) await fiber.dispose()
	}
}

/* Most of the time is waiting, so all three at once. */
describe('cases of the upstream suite', { concurrency: 3 }, () => {
	for (const provider of providers)
		describe(provider.name, { concurrency: 4 }, () => {
			for (const [name, entry] of Object.entries(cases)) {
				if (provider.ours || !entry.uncontrolled)
					test(name, () => tryCase(provider, entry.act ?? entry))
			}
		})
})

test('every name of the upstream suite has one place', () => {
	const names = [cases, repeated, excepted].flatMap(Object.keys)
	assert.equal(new Set(names).size, names.length)
	for (const [name, by] of Object.entries(repeated)) assert.ok(Object.hasOwn(cases, by), name)
	const document = new URL('../../../../docs/dsh.md', import.meta.url)
	const said = /(\d+) are tried[^]*?(\d+) repeat[^]*?(\d+) are excepted/.exec(fs.readFileSync(document, 'utf8'))
	assert.deepEqual(said.slice(1).map(Number), [cases, repeated, excepted].map((list) => Object.keys(list).length))
})
