/**
 * For each import of an ES module, Node parses the package.json of its package again. That of drizzle-orm is 175 KB long,
 * and it is imported hundreds of times, which takes more than a second of CPU at each start. Preloading this file
 * resolves the imports between its modules without the package.json, and each import from elsewhere only once.
 */
const { registerHooks } = require('node:module')

const OWN_MODULE = /\/node_modules\/drizzle-orm\/.*\.js$/
const PACKAGE = /^drizzle-orm(\/|$)/
const resolved = new Map()

registerHooks({
  resolve(specifier, context, resolveNext) {
    const { parentURL, conditions } = context
    if (PACKAGE.test(specifier) && conditions.includes('import')) {
      if (!resolved.has(specifier)) resolved.set(specifier, resolveNext(specifier, context))
      return { ...resolved.get(specifier), shortCircuit: true }
    }
    if (specifier[0] !== '.' || parentURL === undefined || !OWN_MODULE.test(parentURL))
      return resolveNext(specifier, context)
    return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true }
  },
})
