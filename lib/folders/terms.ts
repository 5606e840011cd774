import { minutes, seconds } from '../platform/kernel/clock.ts'

/** FTP over TLS is `ftps`. */
export type FolderProtocol = 'sftp' | 'ftps' | 'ftp'

/**
 * The limits of a server for one file transfer protocol, in one place, so that tests can lower them. Limits for
 * connections and bytes are per process.
 */
export type FolderTerms = {
  connections: number
  connectionsPerNetwork: number
  /**
   * How many connections may be waiting to sign in. The same number of places is reserved for networks from which
   * someone has signed in before.
   */
  signingIn: number
  signingInPerNetwork: number
  /**
   * Key exchanges cost CPU time, so they are limited to a burst and then one per interval. Networks from which
   * someone has signed in before have a separate limit of the same size.
   */
  exchanges: { burst: number; refillMs: number }
  exchangesPerNetwork: { burst: number; refillMs: number }
  /** How long a client may take to sign in, and how many attempts it may use. */
  signInMs: number
  signInAttempts: number
  /** A connection without requests is closed after this time. */
  idleMs: number
  /** If a file gets no new bytes for this long, its bytes are stored and its lease is released. */
  writeIdleMs: number
  /** How many requests that query the database may run and wait, for all connections and for each workspace. */
  lookups: { most: number; waiting: number; waitingForEach: number }
  /** How far ahead of the next missing byte a write may end. */
  aheadBytes: number
  /** The maximum total size of the writes that arrived ahead of a missing byte, across all files. */
  allAheadBytes: number
  /** How often a session's permission is checked while it is sending requests. */
  recheckMs: number
}

export const FOLDER_TERMS: FolderTerms = {
  connections: 2000,
  connectionsPerNetwork: 200,
  signingIn: 200,
  signingInPerNetwork: 20,
  exchanges: { burst: 100, refillMs: 20 },
  exchangesPerNetwork: { burst: 40, refillMs: 250 },
  signInMs: seconds(30),
  signInAttempts: 6,
  idleMs: minutes(10),
  writeIdleMs: seconds(100),
  lookups: { most: 8, waiting: 20_000, waitingForEach: 4000 },
  aheadBytes: 4 * 1024 * 1024,
  allAheadBytes: 64 * 1024 * 1024,
  recheckMs: seconds(1),
}
