/*
 * What runs in a program's isolate. The program is built at the top level, the
 * one moment in which a Worker may make a function of text; as a function's
 * body by itself, so it cannot close the function around it. `run` is called
 * once. Whatever is here shares the isolate with the program and may be
 * tampered with: the host believes none of it.
 */
import { installProxy } from './proxy.ts'
import { primordials } from '../../../../src/engine/quickjs/realm/js/primordials.js'
import { RpcStub, WorkerEntrypoint } from 'cloudflare:workers'
// @ts-expect-error: put beside this module by the host
import source from 'program.txt'
import { installErrors, PROGRAM } from './errors.ts'
import { installGlobals } from './globals.ts'
import { loadAhead } from './inspect.ts'
import { begin, untouchable, type Built } from './guest.ts'
import type { HostStub } from './uplink.ts'

const { apply, freeze, setPrototypeOf } = primordials
const AsyncFunction = (async () => {}).constructor as FunctionConstructor

function build(): Built {
	try {
		const program = AsyncFunction(
			`'use strict';\n${source}\n//# sourceURL=${PROGRAM}`
		) as unknown as () => Promise<unknown>
		return { program }
	} catch (error) {
		return { error }
	}
}

/* The stub of the host's target takes what it does not have itself from here:
 * a function of the program's there would be called with it as its `this`, and
 * who has it can have its host build 32 MiB of objects. */
function keepStub(): void {
	setPrototypeOf(RpcStub.prototype, null)
	freeze(RpcStub.prototype)
}

const built = build()
keepStub()
installProxy(globalThis)
installErrors()
installGlobals()
loadAhead(source)

export default class extends WorkerEntrypoint {
	run(host: HostStub, spec: string): Promise<string[]> {
		const { ctx } = this
		const { abort } = ctx
		/* Ends all that goes on in this request, what a program made it wait
		 * for (waitUntil) too. An aborted isolate would go on, in workerd. */
		const end = () => apply(abort, ctx, ['the host has ended the run'])
		host.stopped().then(end, end)
		return untouchable(begin(built, host, spec))
	}
}
