/*
 * Bytes and text, for what the realm's process.js needs. Takes the place of
 * the realm's encoding.js in this bundle.
 */
import { primordials } from '../../../../src/engine/quickjs/realm/js/primordials.js'

const { isView, taBuffer, taByteLength, taByteOffset, taTag, dvBuffer,
	dvByteLength, dvByteOffset, apply, Uint8Array: PrimBytes } = primordials
const decoder = new TextDecoder()
const { decode } = TextDecoder.prototype

export function utf8Decode(bytes: Uint8Array): string {
	return apply(decode, decoder, [bytes])
}

/* The bytes behind a view; undefined: it is none. */
export function bytesOf(chunk: unknown): Uint8Array | undefined {
	if (!isView(chunk)) return undefined
	return taTag(chunk) === undefined
		? new PrimBytes(dvBuffer(chunk), dvByteOffset(chunk), dvByteLength(chunk))
		: new PrimBytes(taBuffer(chunk), taByteOffset(chunk), taByteLength(chunk))
}
