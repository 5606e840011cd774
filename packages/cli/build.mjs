import { chmodSync } from 'node:fs'
import { build } from 'esbuild'

/** One file with all that it needs, so that installing it brings nothing along. */
const outfile = 'dist/sluice.js'
await build({
  entryPoints: ['src/main.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  legalComments: 'none',
  banner: { js: '#!/usr/bin/env node' },
})
chmodSync(outfile, 0o755)
