import { minutes, seconds } from '../platform/kernel/clock.ts'

/** The limits of SFTP in one place, so that tests can lower them. Connections and bytes are those of one process. */
export type SftpTerms = {
  connections: number
  connectionsPerNetwork: number
  /** Of these, how many may still have to sign in. */
  signingIn: number
  signingInPerNetwork: number
  /** Key exchanges cost processor time: so many at once, and then one for each interval. */
  exchanges: { burst: number; refillMs: number }
  exchangesPerNetwork: { burst: number; refillMs: number }
  /** How long a client may take to sign in, in how many attempts and bytes. */
  signInMs: number
  signInAttempts: number
  signInBytes: number
  /** A connection without a request is closed after this. */
  idleMs: number
  /** A file that gets no bytes for this long is stored, and its lease released. */
  writeIdleMs: number
  channels: number
  /** Open files and directories of a connection. */
  handles: number
  /** Requests that a connection may have unanswered before it is no longer read. */
  unanswered: number
  /** How far ahead of the next missing byte a write may be. */
  aheadBytes: number
  /** What writes ahead may hold in all files together. */
  allAheadBytes: number
  /** How often a session that writes is checked for being still allowed. */
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
