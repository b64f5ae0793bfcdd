/*
 * RemoteRuntime in Node.js, bundled once: over a Worker's /run, wherever that
 * is.
 */
import { load } from './wasm/load.mjs'

let modules

function loaded() {
	modules ??= Promise.all([load('remote.ts'), load('../test/workers/case.ts')])
	return modules
}

export async function remoteRuntime(config) {
	const [{ RemoteRuntime }] = await loaded()
	return new RemoteRuntime(config)
}

/* Performs a conformance case. */
export async function performRemotely(url, token, one) {
	const [{ RemoteRuntime }, { perform }] = await loaded()
	return perform((config) => new RemoteRuntime({ url, token, ...config }), one)
}
