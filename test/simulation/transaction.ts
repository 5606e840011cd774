import type { Host } from './scheduler.ts'
import type { Session } from './sessions.ts'

/** A node's open transaction. Its session starts with its first statement. */
export class Transaction {
  readonly host: Host
  session: Session | undefined
  /** Set once its session has ended. */
  lost: Error | undefined
  wrote = false
  notified = false

  constructor(host: Host) {
    this.host = host
  }
}

export function lostSession(): Error {
  return Object.assign(new Error('The session has ended.'), { code: 'CONNECTION_CLOSED', query: '' })
}
