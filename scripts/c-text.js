/*
 * C source as the checks want it: comments, literals and the second branches
 * of preprocessor conditionals blanked out, every line still where it was.
 */
'use strict'

/* Comments and the insides of literals become spaces; newlines stay. */
function blankText(source) {
	const token =
		/\/\*[^]*?(?:\*\/|$)|\/\/(?:\\\n|[^\n])*|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'/g
	return source.replace(token, (text) =>
		text[0] === '/'
			? text.replace(/[^\n]/g, ' ')
			: text[0] + text.slice(1, -1).replace(/[^\n]/g, ' ') + text.at(-1)
	)
}

/*
 * Directives become empty lines, and so do the lines of #else and #elif
 * branches: what is left is one translation unit with balanced braces.
 */
function blankDirectives(text) {
	const elses = [] /* one a conditional: are we in a second branch? */
	let continued = false
	return text
		.split('\n')
		.map((line) => {
			const directive = continued || /^\s*#/.test(line)
			if (directive) {
				const word = continued ? '' : /^\s*#\s*(\w*)/.exec(line)[1]
				if (word.startsWith('if')) elses.push(false)
				else if (word === 'endif') elses.pop()
				else if (word.startsWith('el')) elses[elses.length - 1] = true
				continued = line.endsWith('\\')
				return ''
			}
			return elses.includes(true) ? '' : line
		})
		.join('\n')
}

/* [{ name, line, lines }] of the functions that `source` defines. */
function functions(source) {
	const text = blankDirectives(blankText(source))
	const found = []
	const open = [] /* an entry a brace: a function, or null */
	let start = 0 /* where the declaration at this depth begins */
	let line = 1
	const lineAt = [1]
	for (let at = 0; at < text.length; at++) {
		const c = text[at]
		if (c === '\n') line++
		lineAt[at + 1] = line
		if (c === '{') {
			const outside = open.every((entry) => entry === undefined)
			open.push(outside ? opens(text.slice(start, at), start) : null)
			if (open.at(-1) === undefined) start = at + 1
		} else if (c === '}') {
			const entry = open.pop()
			if (entry) {
				const first = lineAt[entry.at]
				found.push({ name: entry.name, line: first, lines: line - first + 1 })
			}
			if (open.every((e) => e === undefined)) start = at + 1
		} else if (c === ';' && open.every((e) => e === undefined)) {
			start = at + 1
		}
	}
	return found
}

/*
 * What a brace after `head` opens: a function { name, at }; null: a type or an
 * initializer; undefined: a linkage block, whose inside is outside still.
 */
function opens(head, offset) {
	if (/^\s*extern\s+" *"\s*$/.test(head)) return undefined
	const plain = head.replace(/__attribute__\s*\(\(.*?\)\)/gs, (s) =>
		s.replace(/[^\n]/g, ' ')
	)
	const match = /(\w+)\s*\([^]*\)\s*$/.exec(plain)
	if (!match || /=\s*(\(|$)/.test(plain.slice(0, match.index))) return null
	const first = /\S/.exec(head)
	return {
		name: /(\w+)\s*\(/.exec(plain)[1],
		at: offset + (first ? first.index : 0)
	}
}

module.exports = { blankText, functions }
