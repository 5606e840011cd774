import { copyFileSync } from 'node:fs'
import { build } from 'esbuild'
import { bundleLanguages, bundleWhole, common, languagesBeside } from '../bundle.mjs'

/**
 * Builds two modules that have no dependencies except React: a page without React can load `uploads.js` as it
 * is; `index.js` contains the components, and imports `uploads.js` and, if the page is not in English, its language.
 */
await bundleWhole('src/uploads.ts')
await bundleLanguages()
await build({
  ...common,
  entryPoints: ['src/index.ts'],
  jsx: 'automatic',
  external: ['react', 'react/jsx-runtime'],
  plugins: [{ name: 'beside', setup: leaveUploadsBeside }, languagesBeside],
  banner: { js: "'use client'" },
})
copyFileSync('src/styles.css', 'dist/styles.css')

function leaveUploadsBeside({ onResolve }) {
  onResolve({ filter: /^\.\/uploads\.ts$/ }, () => ({ path: './uploads.js', external: true }))
}
