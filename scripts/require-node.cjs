/**
 * Every script in package.json loads this file before any TypeScript. If Node cannot run TypeScript, or packages are
 * missing, it exits with one sentence that says what to do. It must run on old versions of Node.
 */
const { existsSync } = require('node:fs')
const { join } = require('node:path')

const OLDEST = '22.18'

const modules = join(__dirname, '..', 'node_modules')
const has = (path) => existsSync(join(modules, path))
const fault = findFault()
if (fault) {
  process.stderr.write(`${fault}\n`)
  process.exit(1)
}
require('./resolve-drizzle.cjs')

function findFault() {
  if (!has('pino')) return "Sluice's packages are not installed. Run `npm ci` first."
  if (process.features.typescript) return undefined
  const needs = `Sluice needs Node ${OLDEST} or newer with type stripping, and this is Node ${process.versions.node}`
  if (has('.bin/node'))
    return `${needs} without it. Use the scripts in package.json, such as \`npm start\`: they run on the Node in node_modules. If they do not, check NODE_OPTIONS.`
  return `${needs}. Run \`npm ci\` without --omit=optional, which installs a suitable Node on most platforms, or install Node ${OLDEST} or newer.`
}
