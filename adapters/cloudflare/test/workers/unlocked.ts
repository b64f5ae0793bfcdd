/*
 * A loader whose isolates are not closed as ours are: a program can take the
 * stub of its host's target, so what stands behind it is under test. Or the
 * guest is another one altogether, which says what it likes.
 */
const UNLOCK = `import { RpcStub as OpenStub } from 'cloudflare:workers'
{
	const { freeze } = Object
	const { setPrototypeOf } = Reflect
	Object.freeze = (object) => (object === OpenStub.prototype ? object : freeze(object))
	Reflect.setPrototypeOf = (object, proto) =>
		object === OpenStub.prototype || setPrototypeOf(object, proto)
}
`

export function unlocked(loader: WorkerLoader, main?: string): WorkerLoader {
	const load: WorkerLoader['load'] = (code) => {
		const source = main ?? UNLOCK + (code.modules['main.js'] as string)
		return loader.load({ ...code, modules: { ...code.modules, 'main.js': source } })
	}
	return { load } as WorkerLoader
}
