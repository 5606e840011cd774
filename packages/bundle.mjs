import { readFile } from 'node:fs/promises'
import { build, transform } from 'esbuild'

/** What the bundles for browsers have in common. */
export const common = {
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
}

/** Builds a module that a page can load as it is, with its style sheets as text. */
export function bundleWhole(entryPoint) {
  const plugins = [{ name: 'styles', setup: inlineStyles }]
  return build({ ...common, entryPoints: [entryPoint], minify: true, plugins })
}

function inlineStyles({ onLoad }) {
  onLoad({ filter: /\.css$/ }, async ({ path }) => {
    const { code } = await transform(await readFile(path, 'utf8'), { loader: 'css', minify: true })
    return { contents: code, loader: 'text' }
  })
}
