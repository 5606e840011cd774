import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { importOne } from '../../test/support/import-site.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'
import type { DatabaseHandle } from '../platform/db/database.ts'
import { minutes } from '../platform/kernel/clock.ts'
import { claimImports, importShares } from './import-rows.ts'

let database: DatabaseHandle
const sites: Site[] = []
beforeAll(async () => {
  database = await openTestDatabase()
  const options = { pipe: { source: { http: true, url: true } } }
  for (let n = 0; n < 5; n++) sites.push(await createSite(database, options))
})
afterAll(async () => {
  for (const site of sites) await site.close()
  await database?.close()
})

const create = async (site: Site, files: number) => {
  for (let n = 0; n < files; n++) await importOne(site, { url: `https://example.com/${n}.mp4` })
}
const limits = () => ({ perWorkspace: 8, except: [], nowMs: Date.now() + minutes(1) })
const claim = async (limit: number) => {
  const claimed = await claimImports(database.db, { ...limits(), limit, perOwner: limit, claimMs: 60_000 })
  return claimed.map(({ workspaceId }) => workspaceId).sort()
}

it('gives a free place to the workspace with fewer active imports, not to the one that requested its import first', async () => {
  const [greedy, modest] = sites as [Site, Site]
  await create(greedy, 6)
  expect(await claim(2)).toEqual([greedy.workspaceId, greedy.workspaceId])
  await create(modest, 3)
  expect(await claim(2)).toEqual([modest.workspaceId, modest.workspaceId])
  expect(await claim(2)).toEqual([greedy.workspaceId, modest.workspaceId].sort())
  await database.db.execute(sql`delete from imports`)
})

it('counts the imports of all workspaces of a person together', async () => {
  const [, , first, second, other] = sites as [Site, Site, Site, Site, Site]
  const owner = first.actor.id!
  await database.db.execute(
    sql`update members set user_id = ${owner}::uuid where workspace_id = ${second.workspaceId}::uuid`,
  )
  await create(first, 2)
  await claim(2)
  await create(second, 2)
  await create(other, 1)
  expect(await importShares(database.db, limits())).toEqual(
    expect.arrayContaining([
      { owner, running: 2, waiting: 2 },
      { owner: other.actor.id, running: 0, waiting: 1 },
    ]),
  )
  expect(await claim(1)).toEqual([other.workspaceId])
})
