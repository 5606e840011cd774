import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { build } from 'esbuild'

/**
 * Builds two modules that have no dependencies except React: `uploads.js` includes tus-js-client, so that a page
 * without React can load it as it is; `index.js` contains the components, and imports `uploads.js`.
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
