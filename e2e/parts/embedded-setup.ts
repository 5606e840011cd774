import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrate } from '#lib/db/migrate.ts'
import { openEmbedded } from '#lib/db/open-embedded.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A file that holds a migrated, empty embedded database. */
    embeddedContent: string
  }
}

export default async function setup(project: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-embedded-'))
  const content = join(folder, 'content.tar')
  const { db, pglite, close } = await openEmbedded('memory')
  await migrate(db)
  const dump = await pglite.dumpDataDir('none')
  writeFileSync(content, Buffer.from(await dump.arrayBuffer()))
  await close()
  project.provide('embeddedContent', content)
  return () => rmSync(folder, { recursive: true })
}
