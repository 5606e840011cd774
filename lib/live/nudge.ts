import { type Db, notify } from '../db/database.ts'

export const LIVE_CHANNEL = 'sluice_live'

/** Tells the open pages of a workspace, on every node, that something changed: when the transaction commits. */
export async function nudge(tx: Db, workspaceId: string): Promise<void> {
  await notify(tx, LIVE_CHANNEL, workspaceId)
}
