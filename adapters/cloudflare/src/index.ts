/*
 * capsid-cloudflare: the code-runtime contract on Workers. The cordis and
 * codemode providers are entries of their own, so that nobody bundles what he
 * has not installed.
 */
export { IsolateRuntime, type IsolateConfig } from './isolate.ts'
export {
	DispatchRuntime,
	type CodeRuntimeService,
	type DispatchConfig,
	type Dispatcher
} from './dispatch.ts'
export { RemoteRuntime, type RemoteConfig } from './remote.ts'
export * from './words.ts'
