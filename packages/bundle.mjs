import { build } from 'esbuild'

/** What the bundles for browsers have in common. */
export const common = {
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
}

/** Builds a module that a page can load as it is. */
export const bundleWhole = (entryPoint) => build({ ...common, entryPoints: [entryPoint], minify: true })
