import { and, eq, isNull, sql } from 'drizzle-orm'
import { tokens } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { assertNotSuspended } from '../../identity/suspension.ts'
import { seconds } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret, newSecret, uuidv7 } from '../../platform/kernel/ids.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { findPipe } from '../pipes/read-pipes.ts'
import { createSender } from '../senders/create-sender.ts'
import { mayUsePipe, mayUseSource } from '../senders/limits.ts'
import { g, IS_OF_NO_LINK, s } from '../senders/read-senders.ts'
import { SOURCES, type Source } from './issue-token.ts'

export type TrialToken = { id: string; token: string; expiresAt: string }

const TRIAL_SECONDS = 900
/** Files from the “Try it” page belong to a Sender, as all files do. If there is no Sender yet, this one is created. */
export const TRIAL_SENDER = 'Try it'

type Limits = { maxBytes?: number; maxFiles?: number; subject: string; source?: Source }

/**
 * A temporary token for the dashboard's own uploader, issued on behalf of the oldest Sender that may use the Pipe,
 * as if a backend had requested it. It is always the oldest, so that a new token can continue the same uploads even if another Sender has
 * been created since. The user is signed in, so no `sk_` token is needed.
 */
export async function issueTrialToken(
  { db, clock }: CoreRuntime,
  actor: Actor,
  pipeId: string,
  { maxBytes, maxFiles, subject, source = 'http' }: Limits,
): Promise<TrialToken> {
  const { pipe } = await findPipe(db, actor, pipeId)
  await assertNotSuspended(db, actor.workspaceId)
  if (!(source === 'url' ? pipe.sourceUrl : pipe.sourceHttp)) {
    const name = SOURCES[source].name
    throw new SluiceError('conflict', `The ${name} source of this Pipe is off. Switch it on first.`)
  }
  const [oldest] = await db
    .select({ id: s.id })
    .from(s)
    .leftJoin(g, eq(g.id, s.groupId))
    .where(
      and(
        eq(s.workspaceId, actor.workspaceId),
        isNull(s.revokedAt),
        IS_OF_NO_LINK,
        mayUsePipe(sql`${pipeId}`),
        mayUseSource('http'),
      ),
    )
    .orderBy(s.id)
    .limit(1)
  // The new Sender's token is never disclosed, so it cannot be used for anything else.
  const sender = oldest ?? (await createSender({ db, clock }, actor, { name: TRIAL_SENDER }))
  const token = newSecret('tmp_')
  const now = clock.now()
  const id = uuidv7(now)
  const expiresAt = new Date(now + seconds(TRIAL_SECONDS))
  await db.insert(tokens).values({
    id,
    workspaceId: actor.workspaceId,
    pipeId,
    senderId: sender.id,
    tokenHash: hashSecret(token),
    subject,
    maxBytes: maxBytes ?? null,
    maxFiles: maxFiles ?? null,
    expiresAt,
    createdAt: new Date(now),
  })
  return { id, token, expiresAt: expiresAt.toISOString() }
}
