/*
 * access.mjs FILE: puts the macros of src/sfi/access.h into C that wasm2c
 * generated. It fails if that C is not of the form that it knows, for an
 * export without its first line would run on the host's register.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const [file] = process.argv.slice(2)
let text = readFileSync(file, 'utf8')

/* Replaces every match; `count` of them are expected. */
function replace(what, pattern, by, count) {
	let found = 0
	text = text.replace(pattern, (...match) => {
		found++
		return by(...match)
	})
	if (found !== count) {
		console.error(`${file}: ${found} ${what}, not ${count}: is this `
			+ 'another wasm2c than 1.0.32?')
		process.exit(1)
	}
}

const memories = new Set(
	[...text.matchAll(/\bi32_load\(([^,]+),/g)].map((match) => match[1]))
if (memories.size !== 1) {
	console.error(`${file}: ${memories.size} memories, not one`)
	process.exit(1)
}
const entry = `  CAPSID__EXPORT(${[...memories][0]});\n`
const exports = text.match(/^\/\* export: /gm).length
const functions = text.match(/^static \w+ w2c_\w+\(Z_/gm).length

replace('loads', /^DEFINE_LOAD\(/gm, () => 'CAPSID__LOAD(', 14)
replace('stores', /^DEFINE_STORE\(/gm, () => 'CAPSID__STORE(', 9)
replace('exports', /^(\/\* export: .*\n)(.* Z_\w+\(.*\) \{\n)/gm,
	(_, comment, head) => `${comment}CAPSID__GUEST ${head}${entry}`, exports)
/* a start function runs in here, when there is a memory */
replace('instantiations', /^  init_memories\(instance\);\n/gm,
	(line) => line + entry, 1)

/* each is declared once and defined once; the declaration is enough */
replace('functions', /^static (?=\w+ w2c_\w+\(Z_.*\);$)/gm,
	(word) => `${word}CAPSID__GUEST `, functions / 2)

writeFileSync(file, text)
