/*
 * Finds the addon: where CAPSID_ADDON says; in the build tree, if these are
 * the sources; in the package.
 */
'use strict'
const { existsSync } = require('node:fs')
const { join, resolve } = require('node:path')

const target = `${process.platform}-${process.arch}`
const root = join(__dirname, '../../..')
const built = join(root, 'build/lib/capsid.node')
const packed = join(__dirname, `../native/${target}/capsid.node`)

function find() {
	if (process.env.CAPSID_ADDON) return resolve(process.env.CAPSID_ADDON)
	if (existsSync(join(root, 'include/capsid/capsid.h')) && existsSync(built))
		return built
	if (existsSync(packed)) return packed
	throw new Error(
		`capsid has no addon for ${target} (Node.js ${process.version}): ` +
			'the package is for linux-x64 with glibc; in the sources, run `make`'
	)
}

module.exports = require(find())
