/*
 * Before `npm pack`: puts what the build made into native/, where the package
 * looks for it: the addon (libcapsid inside) and what it executes, without
 * their debugging information. CAPSID_BUILD names another build directory.
 * And whose the parts are, THIRD-PARTY-NOTICES. After it, `--clean` takes them away, so that the sources' own tests use the
 * build.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const build = resolve(process.env.CAPSID_BUILD ?? join(here, '../../build'))
const native = join(here, 'native')
const into = join(native, `${process.platform}-${process.arch}`)

const notices = join(here, 'THIRD-PARTY-NOTICES')

rmSync(native, { recursive: true, force: true })
rmSync(notices, { force: true })
if (process.argv.includes('--clean')) process.exit()

mkdirSync(into, { recursive: true })
const files = ['lib/capsid.node', 'bin/capsid-oci', 'bin/capsid-workerd']
for (const guest of ['', '-python', '-workerd', '-worker']) files.push(`bin/capsid-guest${guest}`)

for (const file of ['THIRD-PARTY-NOTICES', ...files]) {
	const from = join(build, file)
	const to = file === 'THIRD-PARTY-NOTICES' ? notices : join(into, file.split('/')[1])
	if (!existsSync(from)) {
		console.error(`${from} is missing: run \`make\` before \`npm pack\``)
		process.exit(1)
	}
	cpSync(from, to, { recursive: true })
	if (to === notices || statSync(to).isDirectory()) continue
	execFileSync('strip', ['--strip-unneeded', to])
	chmodSync(to, 0o755)
}
