import { type SQL, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocked, openTestDatabase } from '../../../test/support/databases.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import type { DatabaseHandle } from '../../platform/db/database.ts'
import { monthOf } from '../../workspace/usage/count-bytes.ts'
import { type Created, createUpload } from '../opening/create-upload.ts'
import type { Incoming } from '../opening/open-upload.ts'
import { renewLeases } from './lease-rows.ts'

describe('locks are taken in the same order, so that no two statements wait for each other', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database)
    node = await serveUploads(site.runtime)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })

  const declared = {
    filename: 'file',
    filetype: null,
    uploadMetadataHeader: null,
    uploadMetadata: {},
    lengthBytes: 7,
    concat: null,
    protocol: 'tus' as const,
  }
  const create = async (incoming: Incoming | undefined, input = {}) => {
    const right = await node.context.rights.toCreate(await site.token(input), site.pipe.id, 'tus')
    return createUpload(node.context, right, declared, incoming)
  }

  /**
   * Another session holds the lock `first` until the work waits for it, and then requests `second`, too. Fails if the
   * two wait for each other.
   */
  async function crossed<Result>(first: SQL, second: SQL, work: () => Promise<Result>): Promise<Result> {
    let working: Promise<Result> | undefined
    await database.db.transaction(async (tx) => {
      await tx.execute(sql`set local deadlock_timeout = '1ms'`)
      await tx.execute(first)
      working = work()
      await blocked(database)
      await tx.execute(second)
    })
    return working!
  }
  const month = (name: string) =>
    sql`select 1 from usage_months where workspace_id = ${site.workspaceId}::uuid and month = ${name} for update`
  const now = () => monthOf(site.clock.now())

  it('by a creation that counts toward its token, and by a creation that is undone', async () => {
    await create(undefined)
    const token = sql`select 1 from tokens where workspace_id = ${site.workspaceId}::uuid for update`
    const made = await crossed(month(now()), token, () => create(undefined, { maxFiles: 1 }))
    expect(made.fileId).toBeTypeOf('string')
  })

  it('by statements that count bytes for one or several uploads: first the month, then the day', async () => {
    const made = [await create({ bytes: 7 }), await create({ bytes: 7 })]
    const finish = ({ upload }: Created) =>
      node.context.recordWhole({
        workspaceId: site.workspaceId,
        lease: upload!.lease,
        hasWebhooks: false,
        fromBytes: 0,
        toBytes: 7,
        crc32: 1,
        storedAt: [{ dataStoreId: site.dataStore.id, etag: '"e"', certainty: 'answered' }],
      })
    expect(await finish(made[0]!)).toBe(true)
    const day = sql`select 1 from usage_days where workspace_id = ${site.workspaceId}::uuid for update`
    expect(await crossed(month(now()), day, () => finish(made[1]!))).toBe(true)
    for (const { upload } of made) upload!.lease.forget()
  })

  it('by the renewal of leases', async () => {
    const made = [await create({ bytes: 7 }), await create({ bytes: 7 })]
    const [low, high] = made.map(({ fileId }) => fileId).sort() as [string, string]
    // Moves the first row, so that the order in the table is reversed.
    await database.db.execute(sql`update files set filename = 'moved' where id = ${low}::uuid`)
    const lock = (id: string) => sql`select 1 from files where id = ${id}::uuid for update`
    const leases = made.map(({ upload }) => upload!.lease)
    const inOrderOfTable = leases.toSorted((a) => (a.rowId === high ? -1 : 1))
    const renewed = await crossed(lock(low), lock(high), () =>
      renewLeases(database.db, inOrderOfTable, 15_000),
    )
    expect([...renewed.keys()].sort()).toEqual([low, high])
    for (const { upload } of made) upload!.lease.forget()
  })

  it('by files that finish together, one of them started in the previous month', async () => {
    const made = [await create({ bytes: 7 }), await create({ bytes: 7 }), await create({ bytes: 7 })]
    const ids = made.map(({ fileId }) => fileId)
    await database.db.execute(
      sql`insert into usage_months (workspace_id, month, used_bytes, reserved_bytes)
        values (${site.workspaceId}::uuid, '2020-01', 0, 7)`,
    )
    await database.db.execute(sql`update files set reserved_month = '2020-01' where id = ${ids[2]}::uuid`)
    const recorded = await crossed(month('2020-01'), month(now()), () =>
      Promise.all(
        made.map(({ upload }) =>
          node.context.recordWhole({
            workspaceId: site.workspaceId,
            lease: upload!.lease,
            hasWebhooks: false,
            fromBytes: 0,
            toBytes: 7,
            crc32: 1,
            storedAt: [{ dataStoreId: site.dataStore.id, etag: '"e"', certainty: 'answered' }],
          }),
        ),
      ),
    )
    expect(recorded).toEqual([true, true, true])
    for (const { upload } of made) upload!.lease.forget()
  })
})
