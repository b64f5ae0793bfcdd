/*
 * What text costs: bytes of UTF-8, bytes of a JSON string of it, bytes of
 * memory, and values if it is JSON, counted without making any of them.
 */

/* Bytes that the character at `at` takes inside of JSON quotes. */
function charBytes(text: string, at: number): number {
	const code = text.charCodeAt(at)
	if (code < 0x80) {
		if (code === 0x22 || code === 0x5c) return 2
		if (code >= 0x20) return 1
		return (code >= 8 && code <= 10) || code === 12 || code === 13 ? 2 : 6
	}
	if (code < 0x800) return 2
	if (code < 0xd800 || code > 0xdfff) return 3
	return isPair(text, at) ? 4 : 6
}

function isPair(text: string, at: number): boolean {
	if ((text.charCodeAt(at) & 0xfc00) !== 0xd800) return false
	return (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00
}

/* len(JSON(text)) in UTF-8. */
export function jsonBytes(text: string): number {
	let bytes = 2
	for (let i = 0; i < text.length; i++) {
		const cost = charBytes(text, i)
		bytes += cost
		if (cost === 4) i++
	}
	return bytes
}

/* Where the first character is that UTF-8 takes more than a byte for: most
 * texts are quickly looked through. */
function asciiUntil(text: string): number {
	const at = text.search(/[^\0-\x7f]/)
	return at < 0 ? text.length : at
}

/* Bytes of well-formed text as UTF-8. */
export function utf8Bytes(text: string): number {
	let bytes = text.length
	for (let i = asciiUntil(text); i < text.length; i++) {
		const code = text.charCodeAt(i)
		if (code < 0x80) continue
		bytes += code < 0x800 ? 1 : 2
		/* a pair is two units and four bytes */
		if (code >= 0xd800 && code <= 0xdfff) i++
	}
	return bytes
}

/*
 * What a text takes of its host: its bytes as UTF-8, or what V8 keeps it in if
 * that is more (one character outside of Latin-1 makes all of them two bytes).
 */
export function heldBytes(text: string): number {
	let bytes = text.length
	let wide = false
	for (let i = asciiUntil(text); i < text.length; i++) {
		const code = text.charCodeAt(i)
		if (code < 0x80) continue
		bytes += code < 0x800 ? 1 : 2
		if (code > 0xff) wide = true
		if (code >= 0xd800 && code <= 0xdfff) i++
	}
	return wide ? Math.max(bytes, 2 * text.length) : bytes
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN = 0x5b
const CLOSE = 0x5d
/* '[' and '{', ']' and '}' differ in this bit alone */
const BRACE = 0x20

/* Where the string that begins at `at` ends: behind its quote. Of what has no
 * end: the text's. */
export function stringEnd(text: string, at: number): number {
	for (let end = at + 1; ; end++) {
		end = text.indexOf('"', end)
		if (end < 0) return text.length
		let slashes = 0
		while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++
		if (slashes % 2 === 0) return end + 1
	}
}

/*
 * How many values are in compact JSON text: one, one more for each comma, one
 * more for each container that is not empty. Stops counting above `most`. Of
 * what is no JSON text the number means nothing.
 */
export function countValues(text: string, most: number): number {
	let values = 1
	for (let at = 0; at < text.length && values <= most; at++) {
		const code = text.charCodeAt(at)
		if (code === QUOTE) at = stringEnd(text, at) - 1
		else if (code === COMMA) values++
		else if ((code & ~BRACE) === OPEN)
			if ((text.charCodeAt(at + 1) & ~BRACE) !== CLOSE) values++
	}
	return values
}

/* The text without the larger one that it is a part of, which V8 would keep
 * with it. */
export function ownText(text: string): string {
	return JSON.parse(JSON.stringify(text)) as string
}

/*
 * The longest prefix, whole characters, whose JSON string fits `room` bytes;
 * undefined if no character fits (an empty text fits two bytes).
 */
export function cutToFit(text: string, room: number): string | undefined {
	let bytes = 2
	let at = 0
	while (at < text.length) {
		const cost = charBytes(text, at)
		if (bytes + cost > room) break
		bytes += cost
		at += cost === 4 ? 2 : 1
	}
	if (bytes > room || (at === 0 && text !== '')) return undefined
	return at === text.length ? text : ownText(text.slice(0, at))
}
