import { desc, eq } from 'drizzle-orm'
import { inboxMessages, workspaces } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Config } from '../../platform/settings/config.ts'
import { type InboxMessage, toInboxMessage } from './inbox-message.ts'

export type Inbox = { url: string; messages: InboxMessage[] }

/** The workspace's inbox: its address, and all that it keeps, newest first. */
export async function showInbox(
  { db, config }: Pick<Runtime, 'db' | 'config'>,
  actor: Actor,
): Promise<Inbox> {
  const [workspace] = await db
    .select({ inboxKey: workspaces.inboxKey })
    .from(workspaces)
    .where(eq(workspaces.id, actor.workspaceId))
  const kept = await db
    .select()
    .from(inboxMessages)
    .where(eq(inboxMessages.workspaceId, actor.workspaceId))
    .orderBy(desc(inboxMessages.id))
  return { url: inboxUrl(config, workspace!.inboxKey), messages: kept.map(toInboxMessage) }
}

/** Whoever knows the key can send; only what the workspace itself signed is kept. */
export function inboxUrl({ baseUrl }: Pick<Config, 'baseUrl'>, inboxKey: string): string {
  return `${baseUrl}/api/inbox/${inboxKey}`
}
