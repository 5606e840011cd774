import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { build } from 'esbuild'

/** One module with tus-js-client inside, so that installing it brings nothing along. */
const { metafile } = await build({
  entryPoints: ['src/index.ts'],
  outfile: 'dist/index.js',
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  jsx: 'automatic',
  external: ['react', 'react/jsx-runtime'],
  legalComments: 'none',
  metafile: true,
  banner: { js: "'use client'" },
})
copyFileSync('src/styles.css', 'dist/styles.css')
writeFileSync('dist/licenses.txt', licensesOf(Object.keys(metafile.inputs)))

/** What the licenses of the packages inside ask to be handed on. */
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
