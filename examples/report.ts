// No functions at all: text in, a report out. Try it with
//   capsid run examples/report.ts
enum Level {
	Info,
	Warning,
	Error
}

interface Entry {
	at: Date
	level: Level
	text: string
}

const lines = `2024-03-01T08:15:00Z Info started
2024-03-01T08:15:02Z Warning disk is 91% full
2024-03-02T23:59:59Z Error disk is full
2024-03-03T00:00:10Z Info stopped`.split('\n')

function parse(line: string): Entry {
	const match = /^(?<at>\S+) (?<level>\w+) (?<text>.*)$/.exec(line)!
	const { at, level, text } = match.groups as Record<string, string>
	return { at: new Date(at), level: Level[level as keyof typeof Level], text }
}

const entries = lines.map(parse)
for (const entry of entries.filter(({ level }) => level > Level.Info))
	console.log(Level[entry.level], entry)

const days = Object.groupBy(entries, ({ at }) => at.toISOString().slice(0, 10))
return {
	worst: Level[Math.max(...entries.map(({ level }) => level))],
	days: Object.entries(days).map(([day, list]) => ({ day, entries: list!.length }))
}
