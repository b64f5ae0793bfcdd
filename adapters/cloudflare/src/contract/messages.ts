/*
 * The contract's fixed messages, from the C table (src/contract/messages.h) as
 * build.mjs translated it. No message is spelt anywhere else.
 */
import { FORMATS } from 'capsid:contract'

/* Fills a printf format's %s, %d and %PRIu64 in order. */
export function message(
	name: string,
	...values: (string | number)[]
): string {
	const format = FORMATS[name]
	if (format === undefined) throw new Error(`no message ${name}`)
	if (values.length === 0) return format
	let at = 0
	return format.replace(/%[sdu]/g, () => String(values[at++]))
}
