import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../db/database.ts'
import { inGroups } from '../../db/in-groups.ts'
import type { Clock } from '../../kernel/clock.ts'
import { isSluiceError } from '../../kernel/errors.ts'
import { advance, type Delivered } from './advance.ts'
import type { Fenced } from './lease-terms.ts'

/** A file that is an object by one PutObject. */
export type Whole = {
  workspaceId: string
  lease: Fenced
  fromBytes: number
  toBytes: number
  crc32: number
  delivered: Delivered
}

type Deps = { db: Db; clock: Clock; announce(tx: Db, fileId: string): Promise<void> }

const MOST_AT_ONCE = 50

/**
 * File, usage and event of each in one transaction. Like their creations, all of a workspace meet at the row of its
 * month, so those that are done at the same time go together.
 */
export function recordsWholes({ db, clock, announce }: Deps): (whole: Whole) => Promise<boolean> {
  const record = async (tx: Db, { lease, delivered, ...moved }: Whole): Promise<boolean> => {
    const change = {
      ...moved,
      become: { transferred: delivered },
      release: { interrupted: false },
      note: { kind: 'completed', detail: { certainty: delivered.certainty } },
    }
    try {
      await advance(tx, lease, change, clock.now())
    } catch (error) {
      // The others do not suffer for it: a lost lease has changed nothing.
      if (isSluiceError(error) && error.code === 'upload_locked') return false
      throw error
    }
    await announce(tx, lease.fileId)
    return true
  }
  return inGroups<Whole, boolean>(
    (group) =>
      db.transaction(async (tx) => {
        if (group.length > 1) await lock(tx, group)
        return Promise.all(group.map((whole) => record(tx, whole)))
      }),
    { most: MOST_AT_ONCE, keyOf: ({ workspaceId }) => workspaceId },
  )
}

/**
 * Whoever locks a file and the row of its month locks the file first; so must many. At the turn of a month one of them may
 * need two months, the other one of these, so all are locked in order.
 */
async function lock(tx: Db, group: Whole[]): Promise<void> {
  const ids = JSON.stringify(group.map(({ lease }) => lease.fileId))
  const { workspaceId } = group[0]!
  await Promise.all([
    rows(
      tx,
      sql`select 1 from files where id in (select value::uuid from json_array_elements_text(${ids}::json))
        order by id for update`,
    ),
    rows(
      tx,
      sql`select 1 from usage_months where workspace_id = ${workspaceId}::uuid order by month for update`,
    ),
  ])
}
