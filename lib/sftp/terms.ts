import { minutes, seconds } from '../platform/kernel/clock.ts'

/** The SFTP limits in one place, so that tests can lower them. Connections and bytes are per process. */
export type SftpTerms = {
  connections: number
  connectionsPerNetwork: number
  /**
   * How many of these may be connections that have not signed in yet. The same number is reserved for networks from
   * which someone has signed in before.
   */
  signingIn: number
  signingInPerNetwork: number
  /**
   * Key exchanges cost CPU time, so they are limited to a burst and then one per interval. Networks from which
   * someone has signed in before have a separate limit of the same size.
   */
  exchanges: { burst: number; refillMs: number }
  exchangesPerNetwork: { burst: number; refillMs: number }
  /** How long a client may take to sign in, and how many attempts and bytes it may use. */
  signInMs: number
  signInAttempts: number
  signInBytes: number
  /** A connection without requests is closed after this time. */
  idleMs: number
  /** A file without new bytes for this long is stored, and its lease released. */
  writeIdleMs: number
  channels: number
  /** Open files and directories per connection. */
  handles: number
  /** How many unanswered requests a connection may have before it is no longer read. */
  unanswered: number
  /** How far ahead of the next missing byte a write may be. */
  aheadBytes: number
  /** The maximum total size of writes ahead, in all files. */
  allAheadBytes: number
  /** How often a writing session's permission is checked. */
  recheckMs: number
}

export const SFTP_TERMS: SftpTerms = {
  connections: 2000,
  connectionsPerNetwork: 200,
  signingIn: 200,
  signingInPerNetwork: 20,
  exchanges: { burst: 100, refillMs: 20 },
  exchangesPerNetwork: { burst: 40, refillMs: 250 },
  signInMs: seconds(30),
  signInAttempts: 6,
  signInBytes: 256 * 1024,
  idleMs: minutes(10),
  writeIdleMs: seconds(100),
  channels: 4,
  handles: 64,
  unanswered: 64,
  aheadBytes: 4 * 1024 * 1024,
  allAheadBytes: 64 * 1024 * 1024,
  recheckMs: seconds(1),
}
