import type { ChildProcess } from 'node:child_process'

/** What `node:cluster` sends with a connection, and what it hears when the process has taken or refused that. */
type SentConnection = { act?: string; seq: number }
type Heard = { ack?: number }
type Connection = { close(): void }

/**
 * Closes the connection that a process was being handed when it ended. `node:cluster` forgets it, but keeps it open, and its
 * client would wait for ever: nodejs/node#21746.
 */
export function closeUntaken(child: ChildProcess): void {
  const untaken = new Map<number, Connection>()
  const send = child.send.bind(child) as (...sent: unknown[]) => boolean
  child.send = (...sent: unknown[]) => {
    const [{ act, seq }, connection] = sent as [SentConnection, Connection]
    if (act === 'newconn') untaken.set(seq, connection)
    return send(...sent)
  }
  child.on('internalMessage', ({ ack }: Heard) => {
    if (ack !== undefined) untaken.delete(ack)
  })
  // By then it has ended, and all that it said has been heard.
  child.once('close', () => {
    for (const connection of untaken.values()) connection.close()
  })
}
