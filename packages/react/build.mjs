import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { build } from 'esbuild'

/**
 * Two modules, so that installing them brings nothing along: the uploads with tus-js-client inside, which a page without React loads as
 * they are, and the components beside them.
 */
const common = {
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  legalComments: 'none',
}
const { metafile } = await build({ ...common, entryPoints: ['src/uploads.ts'], minify: true, metafile: true })
await build({
  ...common,
  entryPoints: ['src/index.ts'],
  jsx: 'automatic',
  external: ['react', 'react/jsx-runtime'],
  plugins: [{ name: 'beside', setup: leaveUploadsBeside }],
  banner: { js: "'use client'" },
})
copyFileSync('src/styles.css', 'dist/styles.css')
writeFileSync('dist/licenses.txt', licensesOf(Object.keys(metafile.inputs)))

function leaveUploadsBeside({ onResolve }) {
  onResolve({ filter: /^\.\/uploads\.ts$/ }, () => ({ path: './uploads.js', external: true }))
}

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
