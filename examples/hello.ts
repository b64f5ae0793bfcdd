// A program is the body of an async function: `await` and `return` work here.
// Its only way out of its world is the namespace `host`. `make demo` runs it:
//   capsid run examples/hello.ts --error-class host=HostError:member \
//     --bind 'host.files=cd include/capsid && printf "[" && ls | sed "s/.*/\"&\"/" | paste -sd, && printf "]"' \
//     --bind 'host.lines=wc -l <"include/capsid/$(tr -dc a-z.)"'
interface Header {
	name: string
	lines: number
}

const names: string[] = await host.files(null)
console.log('the public API has', names.length, 'headers')

// Calls made together run together.
const headers: Header[] = await Promise.all(
	names.map(async (name: string) => ({ name, lines: await host.lines(name) }))
)

try {
	await host.lines('nowhere.h')
} catch (error: unknown) {
	console.log('a refusal:', error instanceof HostError, error.member)
}

console.log('nothing else is here:', typeof fetch, typeof require, process.env)

headers.sort((a, b) => b.lines - a.lines)
return {
	longest: headers[0],
	total: headers.reduce((sum, header) => sum + header.lines, 0)
}
