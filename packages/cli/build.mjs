import { chmodSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** Bundles everything into one file, so that the package has no dependencies. */
const outfile = 'dist/sluice.js'
// The build of yaml for Node calls `require` at run time, which is not available in an ES module.
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
