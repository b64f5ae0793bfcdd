/*
 * The memory that a guest starts from, without what is zero in it, and how a
 * guest's memory is put back to it: to the byte, so that nothing of one run is
 * there in the next.
 */
const PAGE = 4096

/* Of the file that capsid-mkimage makes: src/engine/quickjs/image.h. */
const MAGIC = 0x31474d4943504143n
const HEAD = 16

interface Stretch {
	at: number
	bytes: Uint8Array
}

export class Image {
	readonly size: number
	private readonly stretches: readonly Stretch[]

	constructor(size: number, stretches: readonly Stretch[]) {
		this.size = size
		this.stretches = stretches
	}

	/* A copy of what a memory holds now. */
	static of(memory: WebAssembly.Memory): Image {
		const words = new Uint32Array(memory.buffer)
		const numbers: number[] = []
		for (let page = 0; page * PAGE < memory.buffer.byteLength; page++)
			if (!isZero(words, page)) numbers.push(page)
		return new Image(
			memory.buffer.byteLength,
			join(numbers, (page) => new Uint8Array(memory.buffer, page * PAGE, PAGE))
		)
	}

	/* The file: a header, then pages, each behind its number. */
	static read(file: ArrayBuffer): Image {
		const view = new DataView(file)
		const size = view.getUint32(8, true)
		const count = view.getUint32(12, true)
		if (
			view.getBigUint64(0, true) !== MAGIC ||
			file.byteLength !== HEAD + count * (4 + PAGE)
		)
			throw new Error('the snapshot image is damaged')
		const places = new Map<number, number>()
		for (let i = 0; i < count; i++) {
			const at = HEAD + i * (4 + PAGE)
			places.set(view.getUint32(at, true), at + 4)
		}
		return new Image(
			size,
			join([...places.keys()], (page) => new Uint8Array(file, places.get(page), PAGE))
		)
	}

	/* `memory` has the image's size and is zero from `zeroFrom` on. */
	restore(memory: WebAssembly.Memory, zeroFrom = Infinity): void {
		const bytes = new Uint8Array(memory.buffer)
		let end = 0
		for (const stretch of this.stretches) {
			if (end < zeroFrom) bytes.fill(0, end, Math.min(stretch.at, zeroFrom))
			bytes.set(stretch.bytes, stretch.at)
			end = stretch.at + stretch.bytes.length
		}
		if (end < zeroFrom) bytes.fill(0, end)
	}
}

function isZero(words: Uint32Array, page: number): boolean {
	const end = ((page + 1) * PAGE) / 4
	for (let at = (page * PAGE) / 4; at < end; at++)
		if (words[at] !== 0) return false
	return true
}

/* Copies of pages, ascending, those that are neighbours together. */
function join(
	pages: readonly number[],
	read: (page: number) => Uint8Array
): Stretch[] {
	const stretches: Stretch[] = []
	for (let from = 0; from < pages.length; ) {
		let to = from + 1
		while (to < pages.length && pages[to] === pages[to - 1]! + 1) to++
		const bytes = new Uint8Array((to - from) * PAGE)
		for (let i = from; i < to; i++) bytes.set(read(pages[i]!), (i - from) * PAGE)
		stretches.push({ at: pages[from]! * PAGE, bytes })
		from = to
	}
	return stretches
}
