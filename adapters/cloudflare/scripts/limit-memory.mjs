/*
 * limit-memory.mjs IN OUT PAGES [--host-grows WASM-OBJDUMP]: the module IN with
 * a maximum set to its memory; all else stays byte for byte.
 *
 * With --host-grows, growth is the host's decision as well: every memory.grow
 * (two bytes) becomes a call (two bytes) of the import that fd_close was, which
 * the engine never needs, as it opens nothing; it is renamed capsid.grow. So a
 * heap limit of each run holds to the page and ends the guest at once, as it
 * does natively, and no index in the module moves.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const [input, output, pages, option, objdump] = process.argv.slice(2)
const bytes = readFileSync(input)

function fail(message) {
	process.stderr.write(`limit-memory: ${input}: ${message}\n`)
	process.exit(1)
}

/* [value, where it ends] */
function readNumber(at) {
	let value = 0
	for (let shift = 0; ; shift += 7) {
		const byte = bytes[at++]
		value += (byte & 127) * 2 ** shift
		if (byte < 128) return [value, at]
	}
}

function number(value) {
	const out = []
	for (; value > 127; value = Math.floor(value / 128)) out.push((value % 128) | 128)
	return Buffer.from([...out, value])
}

const text = (value) => Buffer.concat([number(Buffer.byteLength(value)), Buffer.from(value)])

function limited(at) {
	if (bytes[at] !== 1 || bytes[at + 1] !== 0) fail('not one memory without a maximum')
	const [least] = readNumber(at + 2)
	return Buffer.concat([Buffer.from([1, 1]), number(least), number(Number(pages))])
}

/* The import section's body with one import renamed, and which it is. */
function renamed(at, end) {
	const old = Buffer.concat([text('wasi_snapshot_preview1'), text('fd_close')])
	const found = bytes.subarray(at, end).indexOf(old)
	if (found < 0) fail('it does not import fd_close')
	const before = bytes.subarray(at, at + found)
	const after = bytes.subarray(at + found + old.length, end)
	return Buffer.concat([before, text('capsid'), text('grow'), after])
}

function closeIndex() {
	const table = execFileSync(objdump, ['-x', '-j', 'Import', input], { encoding: 'utf8' })
	const line = /func\[(\d+)\] .* <- wasi_snapshot_preview1\.fd_close/.exec(table)
	if (!line || Number(line[1]) > 127) fail('fd_close has no index of one byte')
	return Number(line[1])
}

function callInstead() {
	const index = closeIndex()
	const listing = execFileSync(objdump, ['-d', input], { encoding: 'utf8', maxBuffer: 1 << 30 })
	const places = [...listing.matchAll(/^ *([0-9a-f]+): 40 00 .*\| *memory\.grow 0$/gm)]
	if (places.length === 0) fail('it does not grow its memory')
	for (const [, place] of places) {
		const at = Number.parseInt(place, 16)
		if (bytes[at] !== 0x40 || bytes[at + 1] !== 0) fail(`no memory.grow at ${at}`)
		bytes[at] = 0x10
		bytes[at + 1] = index
	}
}

const hostGrows = option === '--host-grows'
if (!output || !(Number(pages) > 0) || (option && !(hostGrows && objdump)))
	fail('usage: limit-memory.mjs IN OUT PAGES [--host-grows WASM-OBJDUMP]')
if (hostGrows) callInstead()
const parts = [bytes.subarray(0, 8)]
let seen = false
for (let at = 8; at < bytes.length; ) {
	const id = bytes[at]
	const [length, begin] = readNumber(at + 1)
	const end = begin + length
	let body = bytes.subarray(begin, end)
	if (id === 2 && hostGrows) body = renamed(begin, end)
	if (id === 5) {
		body = limited(begin)
		seen = true
	}
	parts.push(Buffer.from([id]), number(body.length), body)
	at = end
}
if (!seen) fail('it has no memory of its own')
const made = Buffer.concat(parts)
if (!WebAssembly.validate(made)) fail('what came out is not valid')
writeFileSync(output, made)
