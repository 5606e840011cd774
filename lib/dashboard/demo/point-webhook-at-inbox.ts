import { eq } from 'drizzle-orm'
import { webhookOutputs, workspaces } from '#drizzle/schema/index.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { sealsForColumns } from '../../platform/vault.ts'
import { secretPlace } from '../../webhooks/outputs/signing-secrets.ts'
import { inboxUrl } from '../inbox/show-inbox.ts'

type Output = { workspaceId: string; pipeId: string; secret: string }

/** The demo Pipe's webhook goes to Sluice's own inbox. */
export async function pointWebhookAtInbox(
  { db, clock, config, vault }: Pick<Runtime, 'db' | 'clock' | 'config' | 'vault'>,
  { workspaceId, pipeId, secret }: Output,
): Promise<void> {
  const [workspace] = await db
    .select({ inboxKey: workspaces.inboxKey })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
  const id = uuidv7(clock.now())
  const seal = await sealsForColumns(db, vault)
  await db.insert(webhookOutputs).values({
    id,
    workspaceId,
    pipeId,
    enabled: true,
    url: inboxUrl(config, workspace!.inboxKey),
    secretEncrypted: seal(secret, secretPlace(id)),
  })
}
