import { and, count, eq, isNull, type SQL } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { accountKeys, dataStores, senders, workspaces } from '#drizzle/schema/index.ts'
import type { Actor } from '../audit/record-audit.ts'
import type { Db } from '../db/database.ts'
import { SluiceError } from '../kernel/errors.ts'

type Bound = { most: number; table: PgTable; mine(workspaceId: string): SQL | undefined; make: string }

/** How many of each a workspace may have at one time: far above what anybody needs. Pipes have no bound. */
const BOUNDS = {
  Senders: {
    most: 1000,
    table: senders,
    mine: (id) => and(eq(senders.workspaceId, id), isNull(senders.revokedAt)),
    make: 'Revoke one',
  },
  'Data Stores': {
    most: 500,
    table: dataStores,
    mine: (id) => and(eq(dataStores.workspaceId, id), isNull(dataStores.deletedAt)),
    make: 'Delete one',
  },
  'account keys': {
    most: 500,
    table: accountKeys,
    mine: (id) => and(eq(accountKeys.workspaceId, id), isNull(accountKeys.revokedAt)),
    make: 'Revoke one',
  },
} satisfies Record<string, Bound>

/** Call it in the transaction that makes one more; those of one workspace wait for each other here. */
export async function assertRoom(tx: Db, { workspaceId }: Actor, what: keyof typeof BOUNDS): Promise<void> {
  const { most, table, mine, make }: Bound = BOUNDS[what]
  await tx
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
    // Not `update`, for which every row that names the workspace would have to wait.
    .for('no key update')
  const [found] = await tx.select({ n: count() }).from(table).where(mine(workspaceId))
  if (found!.n < most) return
  throw new SluiceError('conflict', `A workspace may have ${most} ${what} at one time. ${make} first.`)
}
