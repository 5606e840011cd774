import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
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
  const plugins = [{ name: 'styles', setup: inlineStyles }, languagesBeside]
  return build({ ...common, entryPoints: [entryPoint], minify: true, plugins })
}

/** Builds a module for each language besides English, which pages in that language load. */
export async function bundleLanguages() {
  const folder = join(import.meta.dirname, 'react/src/languages')
  for (const file of (await readdir(folder)).filter((name) => name !== 'en.ts')) {
    const stdin = { contents: `export { words } from './${file}'`, resolveDir: folder }
    const outfile = join('dist', moduleOf(file))
    await build({ ...common, outdir: undefined, outfile, stdin, minify: true })
  }
}

const moduleOf = (file) => `words-${file.replace(/\.ts$/, '.js')}`

export const languagesBeside = {
  name: 'languages-beside',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/languages\// }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path: `./${moduleOf(basename(path))}`, external: true } : undefined,
    )
  },
}

function inlineStyles({ onLoad }) {
  onLoad({ filter: /\.css$/ }, async ({ path }) => {
    const { code } = await transform(await readFile(path, 'utf8'), { loader: 'css', minify: true })
    return { contents: code, loader: 'text' }
  })
}
