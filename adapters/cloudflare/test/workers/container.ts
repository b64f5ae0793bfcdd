/*
 * CapsidContainer under test, its container a capsid-server beside workerd.
 * What the caller wants is a path: first the session's name, which ends
 * with a dash and the number of its container, then
 *
 *	case     a conformance case, from outside of the object
 *	direct   the same from inside, by `container`
 *	run      {program, config, abortMs}: the result, and what was called
 *	abort    the object's activation ends; a later request makes a new one
 *	cordis   ContainerCodeRuntime in a cordis context
 *	time     milliseconds of a run with ?calls=N
 */
import { Context } from '@deepseek-ai/cordis'
import {
	CapsidContainer,
	ContainerRuntime,
	containerSession,
	type ContainerLike,
	type MachineOptions
} from '../../src/container.ts'
import { ContainerCodeRuntime } from '../../src/cordis.ts'
import { perform, time, type Case } from './case.ts'

interface Env {
	CAPSID: DurableObjectNamespace<TestContainer>
	CONTROL: Fetcher
	[server: `${'HTTP' | 'TCP'}_${number}`]: Fetcher
}

interface Asked {
	program: string
	config?: object
	abortMs?: number
}

/* `ctx.container`, as the documentation has it. */
class FakeContainer {
	running = false
	private readonly env: Env
	private readonly slot: number
	private started = Promise.resolve()
	private starting = false

	constructor(env: Env, slot: number) {
		this.env = env
		this.slot = slot
	}

	async ask(verb: string, body = {}): Promise<void> {
		const answer = await this.env.CONTROL.fetch(`http://control/${this.slot}/${verb}`, {
			method: 'POST',
			body: JSON.stringify(body)
		})
		const { running } = (await answer.json()) as { running: boolean }
		/* told before a start that is under way by now */
		if (verb !== 'status' || !this.starting) this.running = running
	}

	/* What the platform has noticed by now. */
	async notice(): Promise<void> {
		await this.started
		await this.ask('status')
	}

	start(options: object = {}): void {
		if (this.running) throw new Error('start() of a container that runs')
		this.running = true
		this.starting = true
		this.started = this.ask('start', options).then(() => void (this.starting = false))
	}

	async destroy(): Promise<void> {
		await this.started
		await this.ask('destroy')
	}

	async setInactivityTimeout(): Promise<void> {}

	getTcpPort(): Fetcher {
		const http = this.env[`HTTP_${this.slot}`]!
		const tcp = this.env[`TCP_${this.slot}`]!
		return {
			fetch: (...request: Parameters<Fetcher['fetch']>) => http.fetch(...request),
			connect: (...to: Parameters<Fetcher['connect']>) => tcp.connect(...to)
		} as Fetcher
	}
}

async function run(runtime: ContainerRuntime, { program, abortMs }: Asked) {
	const calls: unknown[] = []
	const hear = async (value: unknown) => (calls.push(value), null)
	const controller = new AbortController()
	if (abortMs !== undefined) setTimeout(() => controller.abort('enough'), abortMs)
	const result = await runtime.run({
		program,
		bindings: [{ global: 'tools', functions: { hear } }],
		signal: controller.signal
	})
	return { result, calls }
}

export class TestContainer extends CapsidContainer<Env> {
	private fake: FakeContainer | undefined

	protected override container(): ContainerLike {
		return this.fake as unknown as ContainerLike
	}

	protected override options(): MachineOptions {
		const [name] = this.ctx.id.name!.split('-')
		const broken = name === 'broken'
		/* patient and long, but where it is what a test is about */
		return {
			startMs: broken || name === 'deaf' ? 800 : 10_000,
			sleepMs: name === 'sleeps' ? 600 : 60_000,
			...(broken && { env: { CAPSID_SANDBOX: 'no-such-layer=required' } })
		}
	}

	/* What is known of the container when an activation begins. */
	async know(slot: number): Promise<void> {
		this.fake ??= new FakeContainer(this.env, slot)
		await this.fake.notice()
	}

	end(): void {
		this.ctx.abort('the activation ends')
	}

	async direct(one: Case) {
		return perform((config) => new ContainerRuntime({ ...this.own(), ...config }), one)
	}

	async cordis() {
		const ctx = new Context()
		await ctx.plugin(ContainerCodeRuntime, {
			...this.own(),
			language: 'python'
		})
		const { language, isolation } = ctx.codeRuntime
		const program = 'return await tools.add([20, 22])'
		const add = async (list: unknown) => (list as number[])[0]! + (list as number[])[1]!
		const bindings = [{ global: 'tools', functions: { add } }]
		return { language, isolation, result: await ctx.codeRuntime.run({ program, bindings }) }
	}
}

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
		const { pathname, searchParams } = new URL(request.url)
		const [, name, verb] = pathname.split('/') as [string, string, string]
		const body = (await request.json().catch(() => ({}))) as never
		const stub = env.CAPSID.get(env.CAPSID.idFromName(name))
		const session = containerSession(env.CAPSID as never, name)
		const over = (config = {}) => new ContainerRuntime({ session, ...config })
		await stub.know(Number(name.split('-')[1]))
		const verbs: Record<string, () => unknown> = {
			case: () => perform(over, body),
			direct: () => stub.direct(body),
			run: () => run(over((body as Asked).config), body),
			abort: () => (stub.end() as unknown as Promise<void>).then(() => {}, (error: Error) => ({ error: error.message })),
			cordis: () => stub.cordis(),
			stop: () => stub.stopContainer(),
			time: () => time(over(), Number(searchParams.get('calls')))
		}
		return Response.json((await verbs[verb]!()) ?? null)
	}
}
