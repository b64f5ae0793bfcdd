/*
 * CapsidContainer as it is deployed. /NAME/run runs {program, language} in the
 * session of that name, /NAME/case a conformance case; /NAME/time measures a
 * run with ?calls=N.
 */
import { CapsidContainer, ContainerRuntime, containerSession } from '../../src/container.ts'
import { perform, time, type Case } from './case.ts'

interface Env {
	CAPSID: DurableObjectNamespace<CapsidContainer>
}

export class Sandbox extends CapsidContainer {
	private readonly mine = crypto.randomUUID()

	protected override options() {
		return { sleepMs: 20_000 }
	}

	/* Which activation this is, and whether its container runs. */
	state() {
		return { activation: this.mine, running: this.container().running }
	}
}

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
		const { pathname, searchParams } = new URL(request.url)
		const [, name, verb] = pathname.split('/') as [string, string, string]
		const session = containerSession(env.CAPSID, name)
		const body = (await request.json().catch(() => ({}))) as { program: string; language?: string }
		const { program, language = 'typescript' } = body
		const runtime = new ContainerRuntime({ session, language })
		const verbs: Record<string, () => unknown> = {
			run: () => runtime.run({ program, bindings: [] }),
			case: () =>
				perform((config) => new ContainerRuntime({ session, ...config }), body as Case),
			time: () => time(runtime, Number(searchParams.get('calls'))),
			state: () => (session as unknown as Sandbox).state(),
			stop: () => (session as unknown as Sandbox).stopContainer()
		}
		return Response.json((await verbs[verb]!()) ?? null)
	}
}
