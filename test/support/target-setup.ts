import { readFileSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { startSluice, temporaryFolder } from './sluice.ts'
import { readDemo } from './target.ts'

declare module 'vitest' {
  interface ProvidedContext {
    demo: DemoDocument
  }
}

/** Starts one complete Sluice, like `npm start`, for all tests that check its responses. */
export default async function setup(project: TestProject) {
  const given = process.env.TARGET
  if (given) return project.provide('demo', JSON.parse(readFileSync(given, 'utf8')))
  const folder = temporaryFolder()
  const sluice = await startSluice({ DATA_DIR: folder.path, FREE_TIER_BYTES: '0' })
  project.provide('demo', readDemo(folder.path))
  return async () => {
    await sluice.stop()
    folder[Symbol.dispose]()
  }
}
