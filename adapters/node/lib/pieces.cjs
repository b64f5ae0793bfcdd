/*
 * A long JSON text that arrives in pieces, put together as JSON.parse would
 * have made it. What the pieces are is in src/pieces.c.
 */
'use strict'
const { isArray } = Array
const { defineProperty, keys } = Object

const OPEN_ARRAY = 1
const OPEN_OBJECT = 2
const CLOSE = 3
const END_VALUE = 4
const END_KEY = 5

class Assembly {
	#value /* the outermost value */
	#inner /* the open container that gets the next value, if there is one */
	#key /* under which it gets it */
	#text = '' /* of the string that is being read */
	#outer = [] /* the containers around the innermost one */

	/* A text that JavaScript cannot hold throws. */
	add(piece) {
		for (const part of JSON.parse(piece)) {
			if (typeof part === 'string') this.#text += part
			else if (typeof part === 'number') this.#obey(part)
			else this.#fill(part)
		}
	}

	/* The value, which is complete. */
	take() {
		return this.#value
	}

	#obey(code) {
		switch (code) {
			case OPEN_ARRAY:
				this.#open([])
				break
			case OPEN_OBJECT:
				this.#open({})
				break
			case CLOSE:
				this.#inner = this.#outer.pop()
				break
			case END_VALUE:
				this.#put(this.#text)
				this.#text = ''
				break
			case END_KEY:
				this.#key = this.#text
				this.#text = ''
		}
	}

	#open(container) {
		this.#put(container)
		this.#outer.push(this.#inner)
		this.#inner = container
	}

	#fill(children) {
		if (!isArray(children))
			for (const key of keys(children)) this.#define(key, children[key])
		else if (isArray(this.#inner))
			for (const child of children) this.#inner.push(child)
		else this.#put(children[0])
	}

	#put(value) {
		if (this.#inner === undefined) this.#value = value
		else if (isArray(this.#inner)) this.#inner.push(value)
		else this.#define(this.#key, value)
	}

	/* As an own property whatever the prototype has under this name. */
	#define(key, value) {
		const object = this.#inner
		if (key in object)
			defineProperty(object, key, {
				value,
				writable: true,
				enumerable: true,
				configurable: true
			})
		else object[key] = value
	}
}

module.exports = { Assembly }
