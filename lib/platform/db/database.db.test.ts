import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { byteaParam, notify, rows } from './database.ts'
import { migrate, migrationsApplied } from './migrate.ts'

describeWithDatabase('the database', (database) => {
  it('applies its migrations once, and reports that they are applied', async () => {
    await migrate(database().db)
    expect(await migrationsApplied(database().db)).toBe(true)
  })

  it('returns arrays, bigints as numbers, bytes as sent, and parsed JSON', async () => {
    const sent = Buffer.from([0, 1, 2, 250, 255, 10, 92])
    const [row] = await rows<{ n: number; b: Uint8Array; j: unknown; t: string[]; u: string[] }>(
      database().db,
      sql`select ${2 ** 46}::bigint as n, ${byteaParam(sent)} as b, ${JSON.stringify({ a: [1] })}::jsonb as j,
        array['a, "b"', '']::text[] as t, '{}'::uuid[] as u`,
    )
    expect(row?.t).toEqual(['a, "b"', ''])
    expect(row?.u).toEqual([])
    expect(row?.n).toBe(2 ** 46)
    expect(Buffer.from(row!.b)).toEqual(sent)
    expect(row?.j).toEqual({ a: [1] })
  })

  it('delivers a notification when the transaction commits, and none when it rolls back', async () => {
    const got: (string | null)[] = []
    let arrived = () => {}
    const first = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const unlisten = await database().listen('a_channel', (payload) => {
      got.push(payload)
      arrived()
    })
    const rolledBack = database().db.transaction(async (tx) => {
      await notify(tx, 'a_channel', 'never')
      throw new Error('no')
    })
    await expect(rolledBack).rejects.toThrow('no')
    await database().db.transaction((tx) => notify(tx, 'a_channel', 'hello'))
    await first
    expect(got).toEqual(['hello'])
    await unlisten()
  })
})
