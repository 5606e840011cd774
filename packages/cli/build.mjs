import { chmodSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** One file with all that it needs, so that installing it brings nothing along. */
const outfile = 'dist/sluice.js'
// Its module for Node requires others while it runs, which a file of ES modules cannot.
const yaml = join(dirname(fileURLToPath(import.meta.resolve('yaml/package.json'))), 'browser/index.js')
await build({
  entryPoints: ['src/main.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  alias: { yaml },
  legalComments: 'none',
  banner: { js: '#!/usr/bin/env node' },
})
chmodSync(outfile, 0o755)
