/*
 * The words of the contract that a caller needs, for every entry that stands
 * alone.
 */
export { MisuseError } from './contract/names.ts'
export type {
	BindingFunction,
	BindingNamespace,
	ErrorClass,
	FailureKind,
	JsonValue,
	RunFailure,
	RunRequest,
	RunResult,
	RuntimeConfig
} from './contract/types.ts'
