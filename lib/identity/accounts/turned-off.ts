import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import {
  accountKeys,
  dataStores,
  pipeHooks,
  senders,
  TURNED_OFF_KINDS,
  type TurnedOffKind,
  turnedOff,
  webhookOutputs,
} from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'

/** What was turned off when an account changed hands, as long as it is: its owner may switch each on again. */
export const turnedOffAnswer = z.strictObject({
  kind: z.enum(TURNED_OFF_KINDS),
  id: z.uuid(),
  name: z.string(),
  turnedOffAt: z.iso.datetime(),
})
export type TurnedOff = z.output<typeof turnedOffAnswer>

export const turnedOffList = z.strictObject({ data: z.array(turnedOffAnswer) })

/** A workspace may have more; those that are switched on make room for the next. */
const MOST = 500

/** What was switched on elsewhere, or deleted, is not in the list. */
export async function listTurnedOff({ db }: Pick<Runtime, 'db'>, actor: Actor): Promise<TurnedOff[]> {
  const found = await rows<Omit<TurnedOff, 'turnedOffAt'> & { at: Date }>(
    db,
    sql`select t.kind, t.subject_id as id, still.name, t.turned_off_at as at from turned_off t
      join lateral (
        select k.name from account_keys k
          where t.kind = 'account_key' and k.id = t.subject_id and k.revoked_at is not null
        union all select s.name from senders s
          where t.kind = 'sender' and s.id = t.subject_id and s.revoked_at is not null
        union all select coalesce(p.name, o.name) from webhook_outputs o
          left join pipes p on p.id in (o.pipe_id, o.further_pipe_id)
          where t.kind = 'webhook' and o.id = t.subject_id and not o.enabled and p.deleted_at is null
        union all select p.name from pipe_hooks h join pipes p on p.id = h.pipe_id
          where t.kind = 'hook' and h.id = t.subject_id and not h.enabled and p.deleted_at is null
        union all select d.name from data_stores d
          where t.kind = 'data_store' and d.id = t.subject_id and d.turned_off_at is not null and d.deleted_at is null
      ) still on true
      where t.workspace_id = ${actor.workspaceId}::uuid order by t.turned_off_at desc, t.kind, t.subject_id limit ${MOST}`,
  )
  return found.map(({ kind, id, name, at }) => ({ kind, id, name, turnedOffAt: new Date(at).toISOString() }))
}

const AUDITED: Record<TurnedOffKind, string> = {
  account_key: 'account_key.switched_on',
  sender: 'sender.switched_on',
  webhook: 'webhook.switched_on',
  hook: 'hook.switched_on',
  data_store: 'data_store.switched_on',
}

/** With all that it opens: whoever knows a key, or a token of a Sender, may use it again. */
export async function switchOn({ db, clock }: CoreRuntime, actor: Actor, id: string): Promise<TurnedOff> {
  return db.transaction(async (tx) => {
    const mine = and(eq(turnedOff.workspaceId, actor.workspaceId), eq(turnedOff.subjectId, id))
    const [row] = isUuid(id) ? await tx.select().from(turnedOff).where(mine).for('update') : []
    const thing = row && (await listTurnedOff({ db: tx }, actor)).find((listed) => listed.id === id)
    if (!thing) throw new SluiceError('not_found', 'That was not turned off, or is on again.')
    await turnOn(tx, thing, new Date(clock.now()))
    await tx.delete(turnedOff).where(mine)
    const entry = { action: AUDITED[thing.kind], subjectId: id, subjectLabel: thing.name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return thing
  })
}

async function turnOn(tx: Db, { kind, id }: TurnedOff, now: Date): Promise<void> {
  switch (kind) {
    case 'account_key':
      await tx.update(accountKeys).set({ revokedAt: null }).where(eq(accountKeys.id, id))
      return
    case 'sender':
      await tx.update(senders).set({ revokedAt: null }).where(eq(senders.id, id))
      return
    case 'webhook': {
      const anew = { failingSince: null, turnedOffReason: null, turnedOffAt: null, updatedAt: now }
      await tx
        .update(webhookOutputs)
        .set({ enabled: true, ...anew })
        .where(eq(webhookOutputs.id, id))
      return
    }
    case 'hook':
      await tx.update(pipeHooks).set({ enabled: true, updatedAt: now }).where(eq(pipeHooks.id, id))
      return
    case 'data_store':
      await tx.update(dataStores).set({ turnedOffAt: null, updatedAt: now }).where(eq(dataStores.id, id))
  }
}
