/* The scanner in JavaScript's hands: what it takes, what it refuses, where. */
import assert from 'node:assert/strict'
import test from 'node:test'

import { load } from './load.mjs'

const { jsonFault } = await load('json.ts')

test('lossless values of any depth and size', () => {
	for (const text of ['null', '{"a":[1,2.5,-1e3,"ü\\ud800"]}', '9007199254740992', '"\\u0000"', '[]', ' [ 1 ] '])
		assert.equal(jsonFault(text), undefined, text)
	assert.equal(jsonFault('['.repeat(100_000) + ']'.repeat(100_000)), undefined)
	assert.equal(jsonFault(JSON.stringify('x'.repeat(10_000_000))), undefined)
	assert.equal(jsonFault(new TextEncoder().encode('{"a":1}')), undefined)
})

test('what is lost is named with its place', () => {
	const faults = {
		'{"a":{"b":[1,9007199254740993]}}': '$.a.b[1] is a number that a double cannot hold',
		'[1e400]': '$[0] is a number that a double cannot hold',
		'{"odd key":-0}': '$["odd key"] is negative zero',
		'{"a":': '$.a is cut off before its end',
		'[1,]': '$[1] is not JSON',
		'1 2': '$ is followed by something else',
		'"\\x"': '$ is a string with an unknown escape',
		'': '$ is cut off before its end'
	}
	for (const [text, words] of Object.entries(faults)) assert.equal(jsonFault(text), words, text)
	assert.equal(jsonFault('[1, 2]', { compact: true }), '$[1] is not compact JSON')
})

test('a lone surrogate in a text is refused, an escaped one is not', () => {
	assert.equal(jsonFault('["a","\ud800"]'), '$[1] is a string that is not valid UTF-8')
	assert.equal(jsonFault('["a","\\ud800"]'), undefined)
	assert.equal(jsonFault(new Uint8Array([0x22, 0xff, 0x22])), '$ is a string that is not valid UTF-8')
})

test('an integer that JSON.parse would round', () => {
	const text = '{"id":12345678901234567890123}'
	assert.notEqual(JSON.stringify(JSON.parse(text)), text)
	assert.equal(jsonFault(text), '$.id is a number that a double cannot hold')
})
