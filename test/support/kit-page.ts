import { resolve } from 'node:path'
import { build } from 'esbuild'

/**
 * Options for the page: declarations before the rendered element, React 18 instead of this project's version, and
 * React's development mode.
 */
export type Shown = { code?: string; react18?: boolean; development?: boolean }

const REACT_18 = { react: 'react-18', 'react-dom': 'react-dom-18' }

export async function pageWith(
  element: string,
  { code = '', react18, development }: Shown = {},
): Promise<string> {
  const mode = development ? 'development' : 'production'
  const { outputFiles } = await build({
    stdin: {
      contents: `import { StrictMode, useState, version } from 'react'
import { createRoot } from 'react-dom/client'
import { UploadButton, UploadDropzone, UploadFailure, useUpload } from './packages/react/src/index.ts'
import './packages/react/src/styles.css'
globalThis.reactVersion = version
${code}
createRoot(document.getElementById('root')!).render(${element})`,
      loader: 'tsx',
      resolveDir: process.cwd(),
    },
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    outdir: resolve('out'),
    define: { 'process.env.NODE_ENV': JSON.stringify(mode) },
    alias: react18 ? REACT_18 : {},
    write: false,
  })
  const [script, style] = ['.js', '.css'].map(
    (end) => outputFiles.find(({ path }) => path.endsWith(end))!.text,
  )
  return `<meta charset="utf-8"><style>:root { color-scheme: light dark; font-family: sans-serif }
main { max-width: 40rem; margin: 2rem auto }
${style}</style><main><h1>Kit</h1><div id="root"></div></main><script type="module">${script}</script>`
}
