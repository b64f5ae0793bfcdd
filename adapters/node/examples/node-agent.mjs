// An agent's host: three tools, and five programs as a language model might
// write them. From the sources after `make`, or from the installed package:
//   node examples/node-agent.mjs
import { createRuntime } from 'capsid'

// 1 MiB of JSON: 10,000 orders.
const orders = Array.from({ length: 10_000 }, (_, i) => ({
	id: 10_000 + i,
	customer: ['ada', 'grace', 'edsger', 'barbara'][i % 4],
	cents: (i * 7919) % 100_000,
	state: i % 9 ? 'paid' : 'open',
	note: 'x'.repeat(24)
}))

const tools = {
	// one megabyte
	async orders() {
		return orders
	},
	// slow: a quarter of a second
	async rating({ customer }) {
		await new Promise((resolve) => setTimeout(resolve, 250))
		return { ada: 5, grace: 4, edsger: 2, barbara: 5 }[customer]
	},
	// fails
	async refund({ id }) {
		throw new Error(`order ${id} was refunded before`)
	}
}

const programs = {
	'a value out of 1 MiB': `
		interface Order { customer: string; cents: number; state: string }
		const all: Order[] = await tools.orders(null)
		const open = all.filter((order) => order.state === 'open')
		console.log('looked at', all.length, 'orders')
		return { open: open.length, euros: open.reduce((sum, o) => sum + o.cents, 0) / 100 }`,

	'calls that run together': `
		const customers = ['ada', 'grace', 'edsger', 'barbara']
		const begin = Date.now()
		const ratings = await Promise.all(customers.map((customer) => tools.rating({ customer })))
		console.log('four slow calls in', Date.now() - begin < 900 ? 'the time of one' : 'a row')
		return Object.fromEntries(customers.map((name, i) => [name, ratings[i]]))`,

	'a tool that fails, and a program that minds': `
		try {
			return await tools.refund({ id: 10_007 })
		} catch (error) {
			if (error instanceof ToolError) return \`\${error.tool} said: \${error.message}\`
			throw error
		}`,

	'a mistake': `
		const all = await tools.orders(null)
		return all[0].customer.name.toUpperCase()`,

	'a loop without an end': `
		console.log('searching …')
		for (let i = 0; ; i++) if (i * i === -1) return i`
}

const runtime = createRuntime({ language: 'typescript', computeMs: 300 })
const bindings = [
	{
		global: 'tools',
		functions: tools,
		errorClass: { name: 'ToolError', memberNameProperty: 'tool' }
	}
]

const indent = (text) => text.replace(/^/gm, '    ')

for (const [title, program] of Object.entries(programs)) {
	console.log(`--- ${title}`)
	console.log(indent(program.replace(/^\n/, '').replaceAll('\n\t\t', '\n').replace(/^\t\t/, '')))
	const { value, logs, error } = await runtime.run({ program, bindings })
	for (const line of logs) console.log(`log    ${line}`)
	if (error) console.log(`${error.kind}\n${indent(error.message)}`)
	else console.log(`value  ${JSON.stringify(value)}`)
	console.log()
}
await runtime.dispose()
