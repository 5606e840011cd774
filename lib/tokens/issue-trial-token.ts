import { and, desc, eq, isNull } from 'drizzle-orm'
import { senders, tokens } from '#drizzle/schema/index.ts'
import type { Actor } from '../audit/record-audit.ts'
import { seconds } from '../kernel/clock.ts'
import { SluiceError } from '../kernel/errors.ts'
import { hashSecret, newSecret, uuidv7 } from '../kernel/ids.ts'
import { findPipe } from '../pipes/find-pipe.ts'
import type { Runtime } from '../runtime.ts'

export type TrialToken = { id: string; token: string; expiresAt: string }

const TRIAL_SECONDS = 900

type Limits = { maxBytes?: number; maxFiles?: number; subject: string }

/**
 * A temporary token for the uploader of the dashboard itself, in the name of the newest Sender, as a backend
 * would have asked for it. Its owner is signed in, so no `sk_` is needed.
 */
export async function issueTrialToken(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  pipeId: string,
  { maxBytes, maxFiles, subject }: Limits,
): Promise<TrialToken> {
  const { pipe } = await findPipe(db, actor, pipeId)
  if (!pipe.sourceHttp)
    throw new SluiceError('conflict', 'The HTTP (TUS) source of this Pipe is off. Switch it on first.')
  const [sender] = await db
    .select({ id: senders.id })
    .from(senders)
    .where(and(eq(senders.workspaceId, actor.workspaceId), isNull(senders.revokedAt)))
    .orderBy(desc(senders.id))
    .limit(1)
  if (!sender) throw new SluiceError('conflict', 'Create a Sender first: tokens are issued in its name.')
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
