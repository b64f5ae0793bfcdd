/*
 * Judges what a case of the conformance corpus came to: first what holds of
 * every result, then the case's own expectations, as tests/conformance does.
 * A key that is not known is a failure.
 */
import { isDeepStrictEqual } from 'node:util'

const bytes = (text) => Buffer.byteLength(text)

function depth(text) {
	let value = JSON.parse(text)
	let levels = 0
	for (; value !== null && typeof value === 'object'; levels++) {
		const members = Object.values(value)
		if (members.length !== 1) return -1
		value = members[0]
	}
	return value === 'leaf' ? levels : -1
}

function ledger({ result, value }) {
	const outcome = result.error ? JSON.stringify(result.error.message) : (value ?? '')
	return bytes(JSON.stringify(result.logs)) + bytes(outcome)
}

const KINDS = ['exception', 'timeout', 'abort', 'worker-exit', 'invalid-output', 'output-limit']

/* What every result keeps; undefined: all of it. */
function invariant(one, performed) {
	const { result, value } = performed
	if (!Array.isArray(result.logs)) return 'logs are not an array'
	if (result.logs.some((text) => typeof text !== 'string')) return 'a log is no string'
	if (result.error && value !== undefined) return 'a value beside an error'
	if (result.error && !KINDS.includes(result.error.kind))
		return `no such kind: ${result.error.kind}`
	const cap = one.config?.maxOutputBytes ?? 67108864
	if (ledger(performed) > cap) return `${ledger(performed)} bytes of output`
	return undefined
}

const errorChecks = {
	kind: (want, error) => error.kind === want,
	kind_one_of: (want, error) => want.includes(error.kind),
	message: (want, error) => error.message === want,
	message_includes: (want, error) => error.message.includes(want),
	message_prefix_of: (want, error) => want.startsWith(error.message)
}

const checks = {
	value: (want, { value }) =>
		value !== undefined && isDeepStrictEqual(JSON.parse(value), want),
	value_text: (want, { value }) => value === want,
	value_absent: (want, { value }) => (value === undefined) === want,
	value_depth: (want, { value }) => value !== undefined && depth(value) === want,
	value_length: (want, { value }) => JSON.parse(value).length === want,
	error: (want, { result }) =>
		result.error !== undefined &&
		Object.entries(want).every(([key, wanted]) => errorChecks[key](wanted, result.error)),
	logs: (want, { result }) => isDeepStrictEqual(result.logs, want),
	logs_joined: (want, { result }) => result.logs.join('') === want,
	logs_nonempty: (want, { result }) => result.logs.length > 0 === want,
	logs_count: (want, { result }) => result.logs.length === want,
	logs_prefix_of: (want, { result }) =>
		result.logs.length <= want.length &&
		result.logs.every((text, i) => want[i].startsWith(text)),
	ledger_at_most: (want, performed) => ledger(performed) <= want,
	calls: (want, { calls }) =>
		isDeepStrictEqual(
			calls.map(([global, name, argument]) => [global, name, JSON.parse(argument)]),
			want
		)
}

const cut = (value) => JSON.stringify(value)?.slice(0, 400)

/* undefined: as expected; else what is wrong. */
export function judge(one, performed) {
	const { misuse_includes: misuse, ...expected } = one.expect
	if (misuse !== undefined)
		return performed.misuse?.includes(misuse)
			? undefined
			: `expected misuse "${misuse}", got ${cut(performed)}`
	if (performed.misuse !== undefined) return `misuse: ${performed.misuse}`
	const broken = invariant(one, performed)
	if (broken) return broken
	if (!expected.error && performed.result.error)
		return `failed: ${cut(performed.result.error)}`
	for (const [key, want] of Object.entries(expected))
		if (!checks[key](want, performed))
			return `${key}: expected ${cut(want)}, got ${cut(performed)}`
	return undefined
}
