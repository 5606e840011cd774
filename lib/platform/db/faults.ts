/**
 * What the error codes of failed statements mean: those of the operating system, of postgres.js, and of PostgreSQL
 * (appendix A of its manual). Drizzle and others wrap errors, so each function also checks the causes.
 */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // The host name does not resolve, for example while its container restarts.
  'ENOTFOUND',
  'EAI_AGAIN',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
])
const REFUSING = new Set([
  // admin_shutdown, crash_shutdown, cannot_connect_now, idle_session_timeout.
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  // read_only_sql_transaction: a standby that is not promoted yet.
  '25006',
  // serialization_failure: on a standby, the statement conflicted with replay.
  '40001',
  // too_many_connections, out_of_memory, configuration_limit_exceeded.
  '53300',
  '53200',
  '53400',
])
/** Class 08, connection_exception; a pooler reports most of its own problems with it. */
const isConnectionException = (code: string) => /^08...$/.test(code)
const FULL = new Set(['ENOSPC', 'EDQUOT', '53100'])
const LOCKED = new Set(['55P03', '40P01'])
const ENDED_HERE = new Set(['CONNECTION_ENDED', 'CONNECTION_DESTROYED'])

/**
 * True if the database did not respond, is shutting down, or accepts no writes: the same request may succeed in a
 * moment.
 */
export const isOutage = (error: unknown): boolean =>
  anyCode(error, (code) => UNREACHABLE.has(code) || REFUSING.has(code) || isConnectionException(code))
/** True if a disk of this machine or of PostgreSQL (disk_full) is full: nothing can be written until there is space. */
export const isDiskFull = (error: unknown): boolean => anyCode(error, (code) => FULL.has(code))
/**
 * True for lock_not_available, and for deadlock_detected, which PostgreSQL may report as soon as a lock is requested.
 */
export const isLockFailure = (error: unknown): boolean => anyCode(error, (code) => LOCKED.has(code))
/** True for query_canceled, which is how a statement ends that takes longer than `statement_timeout`. */
export const isTooSlow = (error: unknown): boolean => anyCode(error, (code) => code === '57014')
/** True for unique_violation of this constraint. */
export const violates = (error: unknown, constraint: string): boolean =>
  chainOf(error).some((at) => 'constraint_name' in at && at.constraint_name === constraint)
export const isReadOnly = (error: unknown): boolean => anyCode(error, (code) => code === '25006')
/** True if this process ended the statement itself, because it is closing its connections. */
export const isEndedHere = (error: unknown): boolean => anyCode(error, (code) => ENDED_HERE.has(code))

/** Buckets and mail servers fail with the same codes, but only errors from postgres.js and Drizzle include a query. */
export const isOfDatabase = (error: unknown): boolean =>
  chainOf(error).some((at) => 'query' in at || codeOf(at).startsWith('CONNECT'))

/** True for an error from postgres.js after which its connection closes. */
export const endsSession = (error: unknown): boolean =>
  UNREACHABLE.has(codeOf(error)) || ['FATAL', 'PANIC'].includes((error as { severity?: string }).severity!)

const MAX_DEPTH = 5

function chainOf(error: unknown): Error[] {
  const chain: Error[] = []
  for (let at = error; at instanceof Error && chain.length < MAX_DEPTH; at = at.cause) chain.push(at)
  return chain
}

export const codeOf = (error: unknown): string => String((error as { code?: unknown } | undefined)?.code)

const anyCode = (error: unknown, test: (code: string) => boolean): boolean =>
  chainOf(error).some((at) => test(codeOf(at)))
