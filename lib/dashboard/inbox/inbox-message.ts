import type { inboxMessages } from '#drizzle/schema/index.ts'

export type InboxMessage = {
  id: string
  receivedAt: string
  headers: Record<string, string>
  body: string
}

export function toInboxMessage(row: typeof inboxMessages.$inferSelect): InboxMessage {
  return { id: row.id, receivedAt: row.createdAt.toISOString(), headers: row.headers, body: row.body }
}
