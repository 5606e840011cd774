import { registerHooks } from 'node:module'

/** Preloaded into a program: prints each OpenTelemetry package that another package loads. */
const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/
const packageOf = (address) => PACKAGE.exec(address ?? '')?.[1] ?? 'sluice'

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const [loaded, by] = [packageOf(found.url), packageOf(context.parentURL)]
    if (loaded.startsWith('@opentelemetry/') && loaded !== by)
      process.stderr.write(`loaded ${loaded} for ${by}\n`)
    return found
  },
})
