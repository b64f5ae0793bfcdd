/*
 * What text costs: bytes of UTF-8, and bytes of a JSON string of it, counted
 * without making either. Used by the ledger.
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

/* Bytes of well-formed text as UTF-8. */
export function utf8Bytes(text: string): number {
	let bytes = text.length
	for (let i = 0; i < text.length; i++) {
		const code = text.charCodeAt(i)
		if (code < 0x80) continue
		bytes += code < 0x800 ? 1 : 2
		/* a pair is two units and four bytes */
		if (code >= 0xd800 && code <= 0xdfff) i++
	}
	return bytes
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
	return text.slice(0, at)
}
