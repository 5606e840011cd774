/**
 * Loaded before any TypeScript by every script of package.json, so that a Node that cannot run it, or missing packages,
 * end in one sentence that says what to do. Written for old versions of Node.
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
  if (!has('pino')) return 'The packages of Sluice are not installed. Run `npm ci` first.'
  if (process.features.typescript) return undefined
  const needs = `Sluice needs Node ${OLDEST} or newer with type stripping, and this is Node ${process.versions.node}`
  if (has('.bin/node'))
    return `${needs} without it. Use the scripts of package.json, such as \`npm start\`: they run on the Node in node_modules. If they do not, look at NODE_OPTIONS.`
  return `${needs}. Run \`npm ci\` without --omit=optional, which brings a Node along for most platforms, or install Node ${OLDEST} or newer.`
}
