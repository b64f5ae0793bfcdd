/*
 * CapsidContainer on a real Docker-compatible engine: the corpora, a cold
 * start, a container that outlives its object's activation, sleep. Environment:
 *
 *	CAPSID_DOCKER        the engine's socket, /var/run/docker.sock unless told
 *	CAPSID_SERVER_IMAGE  the server image: capsid-server
 *	CAPSID_EGRESS_IMAGE  workerd's sidecar: cloudflare/proxy-everything
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { runCorpus } from './corpus.mjs'
import { serve, services } from './kit.mjs'

const docker = process.env.CAPSID_DOCKER ?? '/var/run/docker.sock'
const image = process.env.CAPSID_SERVER_IMAGE ?? 'capsid-server'
const egress = process.env.CAPSID_EGRESS_IMAGE ?? 'cloudflare/proxy-everything'

function status(path) {
	return new Promise((resolve) => {
		const asked = request({ socketPath: docker, path }, (answer) => {
			answer.resume()
			resolve(answer.statusCode)
		})
		asked.on('error', () => resolve(0)).end()
	})
}

/* Why there is nothing to test with, or false. */
async function lacking() {
	if (!existsSync(docker)) return `NO CONTAINER ENGINE HERE: no ${docker}`
	for (const name of [image, egress])
		if ((await status(`/images/${encodeURIComponent(name)}/json`)) !== 200)
			return `THE CONTAINER ENGINE LACKS THE IMAGE ${name}: docs/cloudflare.md, "A container for each session"`
	return false
}

const skip = await lacking()
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let worker

before(async () => {
	if (!skip) worker = await serve(services.engine({ docker, image, egress }))
})
after(() => worker?.stop('SIGTERM'))

test('a container is started, used again, and started anew', { skip, timeout: 60_000 }, async (t) => {
	const timed = async (name) => {
		const begun = Date.now()
		const result = await worker.json(`/${name}/run`, { program: 'return 42 as number' })
		assert.deepEqual(result, { logs: [], value: 42 })
		return Date.now() - begun
	}
	const cold = await timed('cold')
	const warm = []
	for (let i = 0; i < 20; i++) warm.push(await timed('cold'))
	await worker.json('/cold/stop', {})
	const again = await timed('cold')
	const found = `cold ${cold} ms, warm ${warm.sort((a, b) => a - b)[10]} ms, after sleep ${again} ms`
	t.diagnostic(found)
	assert.ok(warm[10] < cold, found)
})

test('typescript.jsonl in a container', { skip, timeout: 120_000 }, (t) =>
	runCorpus(t, 'typescript', 'container', (one) => worker.json('/corpus/case', one)))

test('python.jsonl in a container', { skip, timeout: 120_000 }, (t) =>
	runCorpus(t, 'python', 'container', (one) => worker.json('/corpus/case', one)))

test('a container outlives its object, is adopted, and sleeps', { skip, timeout: 90_000 }, async () => {
	const state = () => worker.json('/outlives/state', {})
	const run = () => worker.json('/outlives/run', { program: 'return 1' })
	await run()
	const first = await state()
	await sleep(12_500)
	const second = await state()
	assert.notEqual(second.activation, first.activation)
	assert.equal(second.running, true)
	const begun = Date.now()
	assert.equal((await run()).value, 1)
	assert.ok(Date.now() - begun < 250, `${Date.now() - begun} ms`)
	await sleep(23_000)
	assert.equal((await state()).running, false)
})
