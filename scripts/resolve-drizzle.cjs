/**
 * To find out the format of an ES module, Node parses the package.json of its package again. That of drizzle-orm is 175 KB
 * long, and 200 of its modules are loaded, which takes a second of CPU at each start. Preloading this file resolves the
 * imports between those modules without their package.json.
 */
const { registerHooks } = require('node:module')

const OWN_MODULE = /\/node_modules\/drizzle-orm\/.*\.js$/

registerHooks({
  resolve(specifier, context, resolveNext) {
    const { parentURL } = context
    if (specifier[0] !== '.' || parentURL === undefined || !OWN_MODULE.test(parentURL))
      return resolveNext(specifier, context)
    return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true }
  },
})
