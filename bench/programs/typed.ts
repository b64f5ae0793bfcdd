type Level = 'low' | 'middle' | 'high'

interface Order {
	readonly id: number
	customer: string
	lines: { sku: string; price: number; count: number }[]
	note?: string
}

const orders: Order[] = Array.from({ length: 20 }, (_, i: number): Order => ({
	id: i + 1,
	customer: `customer ${i % 5}`,
	lines: [
		{ sku: `sku-${i % 7}`, price: 10 + i, count: 1 + (i % 3) },
		{ sku: `sku-${i % 3}`, price: 5, count: 2 }
	],
	note: i % 4 === 0 ? 'gift' : undefined
}))

function total(order: Order): number {
	return order.lines.reduce((sum: number, l) => sum + l.price * l.count, 0)
}

function level(value: number): Level {
	if (value < 30) return 'low'
	return value < 60 ? 'middle' : ('high' as const)
}

const byCustomer = new Map<string, number>()
const levels: Record<Level, number> = { low: 0, middle: 0, high: 0 }
for (const order of orders) {
	const value = total(order)!
	levels[level(value)]++
	const before: number = byCustomer.get(order.customer) ?? 0
	byCustomer.set(order.customer, before + value)
}

const best = [...byCustomer].sort((a, b): number => b[1] - a[1])[0] satisfies [string, number]
const gifts = orders.filter((order: Order): boolean => order.note === 'gift')
return { best, levels, gifts: gifts.map((g) => g.id) as number[] }
