/*
 * A host of its own for what may end it: `parity-host.mjs PROVIDER WHAT`.
 */
import { mount, providers, sleep } from './support.mjs'

const [name, what] = process.argv.slice(2)
const provider = providers.find((one) => one.name === name)

const acts = {
	async heap() {
		const { runtime } = await mount(provider, { maxOldGenerationSizeMb: 1 })
		await runtime.run({ program: 'return 1', bindings: [] })
	},
	async unrenderable() {
		const { runtime } = await mount(provider)
		const bad = async () => {
			throw {
				toString() {
					throw 1
				}
			}
		}
		void runtime.run({ program: 'await tools.x(1)', bindings: [{ global: 'tools', functions: { x: bad } }] })
		await sleep(2000)
	}
}

await acts[what]()
process.exit(0)
