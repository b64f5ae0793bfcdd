/*
 * An esbuild plugin for who bundles DeepSeek Harness for Workers: dsh-llm reads
 * its own package.json by a require() that a Worker has not.
 */
import { readFileSync } from 'node:fs'

export const dshInWorker = {
	name: 'dsh-in-worker',
	setup(build) {
		build.onLoad({ filter: /dsh-llm[\\/]lib[\\/]index\.js$/ }, ({ path }) => {
			const text = readFileSync(path, 'utf8')
			const read = 'createRequire(import.meta.url)("../package.json")'
			if (text.split(read).length !== 2)
				throw new Error(`${path}: it no longer reads its package.json so`)
			const json = readFileSync(path.replace(/lib[\\/]index\.js$/, 'package.json'), 'utf8')
			return { contents: text.replace(read, `(${json})`) }
		})
	}
}
