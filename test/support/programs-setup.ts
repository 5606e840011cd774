import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with the bundled programs that tests start dozens of times. */
    programs: string
  }
}

/**
 * Tests start and kill each of these many times. Starting one from source takes 1.6 s of CPU time, nearly all of it to
 * find hundreds of modules; from one bundled file, it takes 0.3 s. The server itself is tested from source, as it is
 * run in production.
 */
const PROGRAMS = ['upload-node', 'webhook-worker']

/** Some packages call `require`, which ES modules do not have. */
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);"

export default async function setup(project: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-programs-'))
  await build({
    entryPoints: PROGRAMS.map((name) => join(import.meta.dirname, `${name}.ts`)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    banner: { js: REQUIRE },
    // ssh2 looks for files next to its own.
    external: ['ssh2'],
    logLevel: 'warning',
  })
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  project.provide('programs', folder)
  return () => rmSync(folder, { recursive: true })
}
