/*
 * Node's inspect, loaded when a program first needs it: that takes longer than
 * all else that a run takes. It then finds the intrinsics as the program left
 * them; so it is loaded ahead for a program that looks as if it changed some.
 * Takes the place of node-inspect-extracted for the realm's inspect.js.
 */
type Inspect = (value: unknown, options: object) => string

declare const require: (name: 'capsid:inspect') => { inspect: Inspect }

let loaded: Inspect | undefined

function load(): Inspect {
	return (loaded ??= require('capsid:inspect').inspect)
}

export default {
	inspect: (value: unknown, options: object) => load()(value, options)
}

const CHANGES =
	/prototype|__|globalThis|[dD]efine|assign|setPrototypeOf|\b[A-Z]\w*(\.\w+|\[.*\])\s*=[^=>]/
const LOGS = /console|process/

/* A wrong guess costs time, or the look of a log entry. */
export function loadAhead(source: string): void {
	if (LOGS.test(source) && CHANGES.test(source)) load()
}
