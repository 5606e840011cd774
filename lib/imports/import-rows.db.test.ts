import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { importOne } from '../../test/support/import-site.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'
import type { DatabaseHandle } from '../platform/db/database.ts'
import { minutes } from '../platform/kernel/clock.ts'
import { claimImports } from './import-rows.ts'

let database: DatabaseHandle
let sites: Site[] = []
beforeAll(async () => {
  database = await openTestDatabase()
  const options = { pipe: { source: { http: true, url: true } } }
  sites = [await createSite(database, options), await createSite(database, options)]
})
afterAll(async () => {
  for (const site of sites) await site.close()
  await database?.close()
})

it('gives a free place to the workspace with fewer active imports, not to the one that requested its import first', async () => {
  const [greedy, modest] = sites as [Site, Site]
  const create = async (site: Site, files: number) => {
    for (let n = 0; n < files; n++) await importOne(site, { url: `https://example.com/${n}.mp4` })
  }
  const claim = async (limit: number) => {
    const nowMs = Date.now() + minutes(1)
    const claimed = await claimImports(database.db, { limit, perWorkspace: 8, claimMs: 60_000, nowMs })
    return claimed.map(({ workspaceId }) => workspaceId).sort()
  }
  await create(greedy, 6)
  expect(await claim(2)).toEqual([greedy.workspaceId, greedy.workspaceId])
  await create(modest, 3)
  expect(await claim(2)).toEqual([modest.workspaceId, modest.workspaceId])
  expect(await claim(2)).toEqual([greedy.workspaceId, modest.workspaceId].sort())
})
