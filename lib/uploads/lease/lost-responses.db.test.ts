import { expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, serveUploads } from '../../../test/support/upload-site.ts'
import type { Db } from '../../platform/db/database.ts'
import { readLease } from '../ledger/lease-rows.ts'
import { openLeases } from './leases.ts'

describeWithDatabase('a lease', (database) => {
  it('is released once the database is back, if the response to the statement that takes or releases it is lost', async () => {
    const site = await createSite(database())
    const { context, close, url: base } = await serveUploads(site.runtime)
    const client = tusClient({ url: base, pipeId: site.pipe.id, token: await site.token() })
    const file = { rowId: fileIdOf(await client.begin(10)), tokenId: null, plan: undefined }
    const line = losing(context.db)
    const handle = { ...database(), db: line.db }
    const leases = await openLeases({ ...context, database: handle })
    line.loses = 1
    await expect(leases.take(file)).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(await isHeld(context.db, file)).toBe(true)
    const { lease } = (await leases.take(file))!
    line.fails = 2
    await expect(lease.release({ interrupted: true })).rejects.toMatchObject({ code: 'ECONNRESET' })
    lease.forget()
    expect(await isHeld(context.db, file)).toBe(true)
    await expect.poll(() => isHeld(context.db, file)).toBe(false)
    await leases.stop()
    await close()
    await site.close()
  })
})

async function isHeld(db: Db, { rowId }: { rowId: string }): Promise<boolean> {
  return (await readLease(db, rowId))!.leased
}

/** A database whose next statements fail before they are executed, or lose their response. */
function losing(db: Db) {
  const line = { db, loses: 0, fails: 0 }
  const reset = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  const prepareQuery = (...given: Parameters<typeof db._.session.prepareQuery>) => {
    const statement = db._.session.prepareQuery(...given)
    return {
      async execute() {
        if (line.fails > 0 && line.fails--) throw reset()
        const result = await statement.execute()
        if (line.loses > 0 && line.loses--) throw reset()
        return result
      },
    }
  }
  const _ = { ...db._, session: { prepareQuery } }
  line.db = new Proxy(db, { get: (target, name) => (name === '_' ? _ : Reflect.get(target, name)) })
  return line
}
