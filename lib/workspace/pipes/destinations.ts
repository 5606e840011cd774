import { isDeepStrictEqual } from 'node:util'
import { and, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import {
  dataStores,
  furtherPipeDestinations,
  type PipeObject,
  pipeDestinations,
} from '#drizzle/schema/index.ts'
import { capabilitiesOf } from '../../buckets/providers.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { invalidRequest } from '../../platform/kernel/errors.ts'

/**
 * A Pipe's destinations, in order. A destination that is not required is best effort: it never delays or fails an
 * upload.
 */
export type PipeDestination = { dataStoreId: string; required: boolean }

const MOST = 5

export const destinationsField = z
  .array(
    z.strictObject({
      dataStoreId: z.uuid('must be the id of a Data Store'),
      required: z.boolean().default(true),
    }),
  )
  .min(1, 'must have at least one destination')
  .max(MOST, `must have at most ${MOST} destinations`)
  .refine((all) => all.some(({ required }) => required), 'must have at least one required destination')
  .refine(
    (all) => new Set(all.map(({ dataStoreId }) => dataStoreId)).size === all.length,
    'must not have the same Data Store twice',
  )

/**
 * All destinations of all Pipes, as a table: `pipe_id`, `data_store_id`, `position` starting at 1, and `required`.
 */
export const PIPE_DESTINATIONS: SQL = sql`(
    select pipe_id, data_store_id, 1::smallint as position, required from pipe_destinations
    union all select pipe_id, data_store_id, position, required from further_pipe_destinations)`

/** The destinations of each of these Pipes. */
export async function readDestinations(
  db: Db,
  pipeIds: readonly string[],
): Promise<ReadonlyMap<string, PipeDestination[]>> {
  const found = await rows<PipeDestination & { pipeId: string }>(
    db,
    sql`select d.pipe_id as "pipeId", d.data_store_id as "dataStoreId", d.required from ${PIPE_DESTINATIONS} d
      where d.pipe_id in (select value from jsonb_array_elements_text(${JSON.stringify(pipeIds)}::jsonb))
      order by d.position`,
  )
  const byPipe = Map.groupBy(found, ({ pipeId }) => pipeId)
  return new Map(pipeIds.map((id) => [id, (byPipe.get(id) ?? []).map(({ pipeId: _, ...one }) => one)]))
}

/**
 * Sets the destinations of a Pipe whose row the caller has locked or just created. Checks that their Data Stores exist
 * and belong to the actor, and locks them so that they cannot be deleted before this commits. Uploads in progress keep
 * their destinations.
 */
export async function saveDestinations(
  tx: Db,
  actor: Actor,
  pipeId: string,
  destinations: readonly PipeDestination[],
): Promise<void> {
  await lockDataStores(tx, actor, destinations)
  const [first, ...further] = destinations
  const { dataStoreId, required } = first!
  const kept = await tx
    .update(pipeDestinations)
    .set({ dataStoreId, required })
    .where(eq(pipeDestinations.pipeId, pipeId))
    .returning()
  if (kept.length === 0) await tx.insert(pipeDestinations).values({ pipeId, dataStoreId, required })
  await tx.delete(furtherPipeDestinations).where(eq(furtherPipeDestinations.pipeId, pipeId))
  if (further.length > 0)
    await tx
      .insert(furtherPipeDestinations)
      .values(further.map((destination, n) => ({ ...destination, pipeId, position: n + 2 })))
}

/**
 * Checks that each Data Store can store objects with these settings. Its own encryption key always applies: a Pipe can
 * neither omit nor replace it.
 */
export async function assertStorable(
  tx: Db,
  destinations: readonly PipeDestination[],
  object: PipeObject | null,
): Promise<void> {
  if (!object) return
  const { encryption } = object
  const ids = destinations.map(({ dataStoreId }) => dataStoreId)
  const stores = await tx
    .select({ name: dataStores.name, provider: dataStores.provider, demanded: dataStores.encryption })
    .from(dataStores)
    .where(inArray(dataStores.id, ids))
  for (const { provider } of stores) {
    const objection = capabilitiesOf(provider, null).objectionTo(object)
    if (objection)
      throw invalidRequest([{ field: `object.${objection.setting}`, message: objection.message }])
  }
  const other = stores.find(
    ({ demanded }) => encryption && demanded?.type === 'SSE-KMS' && !isDeepStrictEqual(demanded, encryption),
  )
  if (!other) return
  const message = `must be left out, since the Data Store ${other.name} encrypts all its objects with its own key`
  throw invalidRequest([{ field: 'object.encryption', message }])
}

async function lockDataStores(tx: Db, actor: Actor, destinations: readonly PipeDestination[]): Promise<void> {
  const ids = destinations.map(({ dataStoreId }) => dataStoreId)
  const found = await tx
    .select({ id: dataStores.id })
    .from(dataStores)
    .where(
      and(
        inArray(dataStores.id, ids),
        eq(dataStores.workspaceId, actor.workspaceId),
        isNull(dataStores.deletedAt),
      ),
    )
    .orderBy(dataStores.id)
    .for('share')
  const known = new Set(found.map(({ id }) => id))
  const at = ids.findIndex((id) => !known.has(id))
  if (at < 0) return
  const field = ids.length === 1 ? 'dataStoreId' : `destinations.${at}.dataStoreId`
  throw invalidRequest([{ field, message: 'is not one of your Data Stores' }])
}
