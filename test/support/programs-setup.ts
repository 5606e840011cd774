import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder for programs that tests start by the dozen. */
    programs: string
  }
}

/**
 * Each of these is started and killed many times. From source, that takes 1.6 s of CPU, nearly all of it to find
 * hundreds of modules; from one file, 0.3 s. The server itself is tested as it is run, from source.
 */
const PROGRAMS = ['upload-node', 'webhook-worker']

/** Some packages call `require`, which a module does not have. */
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
    // It looks for files next to its own.
    external: ['ssh2'],
    logLevel: 'warning',
  })
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  project.provide('programs', folder)
  return () => rmSync(folder, { recursive: true })
}
