/*
 * What is measured: a program, the functions that it calls, and how to see
 * that its value is right. The same for every subject.
 */
const data = Array.from({ length: 17600 }, (_, i) => ({
	id: 10000 + i,
	name: `item ${10000 + i}`,
	tags: ['a', 'b'],
	ok: true
}))

export const functions = {
	echo: async (argument) => argument,
	data: async () => data
}

export const tasks = {
	fresh: {
		program: 'return 1+1',
		right: (value) => value === 2,
		runs: 3000,
		slow: 60
	},
	'calls-100': {
		program: `let sum = 0
			for (let i = 0; i < 100; i++) sum += await host.echo(i)
			return sum`,
		right: (value) => value === 4950,
		runs: 500,
		slow: 60
	},
	'json-1mib': {
		program: 'return await host.data(null)',
		right: (value) => value.length === 17600 && value[17599].name === 'item 27599',
		runs: 60,
		slow: 10
	}
}
