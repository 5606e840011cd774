import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { build } from 'esbuild'

/** What the bundles for browsers have in common. */
export const common = {
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  legalComments: 'none',
}

/** Builds a module that a page can load as it is, with the licenses of the packages in it. */
export async function bundleWhole(entryPoint) {
  const { metafile } = await build({ ...common, entryPoints: [entryPoint], minify: true, metafile: true })
  writeFileSync('dist/licenses.txt', licensesOf(Object.keys(metafile.inputs)))
}

/** The licenses of the bundled packages, which require that copies include them. */
function licensesOf(files) {
  const roots = files.flatMap((file) => file.match(/.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? [])
  return [...new Set(roots)].sort().map(licenseOf).join('\n')
}

function licenseOf(root) {
  const names = ['LICENSE', 'LICENSE.md', 'LICENSE.txt']
  const found = names.map((name) => join(root, name)).find((path) => existsSync(path))
  if (!found) throw new Error(`${root} has no license.`)
  return `${basename(root.split(sep).join('/'))}\n\n${readFileSync(found, 'utf8')}`
}
