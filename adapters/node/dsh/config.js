/*
 * The plugin's configuration: the four fields of dsh's worker-thread provider
 * with its names, defaults, rules and messages, and five of Capsid's own. What
 * languages and isolations there are, Capsid itself knows and says.
 */
import z from '@deepseek-ai/schemastery'

export const NAME = 'dsh-code-runtime-capsid'

export const Config = z.object({
	computeMs: z.number().default(60_000),
	maxWallMs: z.number().default(600_000),
	maxOutputBytes: z.number().default(67_108_864),
	maxOldGenerationSizeMb: z.number().default(512),
	maxArgumentBytes: z.number().default(16_777_216),
	maxValues: z.number().default(250_000),
	language: z.string().default('typescript'),
	isolation: z.string(),
	eraseOnly: z.boolean().default(true),
})

const LIMITS = ['computeMs', 'maxWallMs', 'maxOutputBytes', 'maxOldGenerationSizeMb']
const MIN_OUTPUT_BYTES = 4
const MIN_ARGUMENT_BYTES = 1024
const MIN_VALUES = 1000
const MAX_VALUES = 2 ** 32 - 1
const MAX_WALL_MS = 2_147_483_647
const MIN_HEAP_MB = 8
const MAX_HEAP_MB = 3584

function check(config) {
	const refuse = (key, rule) => {
		throw new Error(`${NAME}: config.${key} must be ${rule}, got ${String(config[key])}`)
	}
	/* a wall that was asked for under a wrong name is not passed over */
	for (const key of Object.keys(config)) {
		if (!Object.hasOwn(Config.dict, key))
			throw new Error(`${NAME}: config.${key} is unknown; there are ${Object.keys(Config.dict).join(', ')}`)
	}
	for (const key of LIMITS) {
		if (!(Number.isFinite(config[key]) && config[key] > 0))
			refuse(key, 'a positive number')
	}
	if (!Number.isSafeInteger(config.maxOutputBytes) || config.maxOutputBytes < MIN_OUTPUT_BYTES)
		refuse('maxOutputBytes', `a safe integer of at least ${MIN_OUTPUT_BYTES}`)
	if (!Number.isSafeInteger(config.maxArgumentBytes) || config.maxArgumentBytes < MIN_ARGUMENT_BYTES)
		refuse('maxArgumentBytes', `a safe integer of at least ${MIN_ARGUMENT_BYTES}`)
	if (!Number.isSafeInteger(config.maxValues) || config.maxValues < MIN_VALUES || config.maxValues > MAX_VALUES)
		refuse('maxValues', `an integer from ${MIN_VALUES} to ${MAX_VALUES}`)
	if (config.maxWallMs > MAX_WALL_MS)
		refuse('maxWallMs', `at most ${MAX_WALL_MS} (Node clamps a longer setTimeout delay to 1ms)`)
}

/* Capsid's heaps are whole MiB in a range that dsh's rule does not know. */
function heapMb(config) {
	const asked = config.maxOldGenerationSizeMb
	const given = Math.min(Math.max(Math.ceil(asked), MIN_HEAP_MB), MAX_HEAP_MB)
	if (asked < MIN_HEAP_MB || asked > MAX_HEAP_MB)
		process.emitWarning(`config.maxOldGenerationSizeMb is ${asked}; Capsid's heaps have ` +
			`${MIN_HEAP_MB} to ${MAX_HEAP_MB} MiB, so it is ${given}`, { type: NAME })
	return given
}

/*
 * What capsid's createRuntime is asked for. Budgets are whole milliseconds
 * there, so a fraction is rounded up.
 */
export function runtimeOptions(raw) {
	const config = Config(raw ?? {})
	check(config)
	return {
		language: config.language,
		isolation: config.isolation ?? undefined, /* YAML's nothing is null */
		computeMs: Math.min(Math.ceil(config.computeMs), Number.MAX_SAFE_INTEGER),
		maxWallMs: Math.ceil(config.maxWallMs),
		maxOutputBytes: config.maxOutputBytes,
		maxHeapMb: heapMb(config),
		maxArgumentBytes: config.maxArgumentBytes,
		maxValues: config.maxValues,
		eraseOnly: config.eraseOnly,
	}
}
