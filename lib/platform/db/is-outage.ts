/** The database did not answer, or is going down: the same request may succeed in a moment. */
const CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // Its name does not resolve: so does the name of a container that restarts.
  'ENOTFOUND',
  'EAI_AGAIN',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  // PostgreSQL, appendix A: admin_shutdown, crash_shutdown, cannot_connect_now, too_many_connections.
  '57P01',
  '57P02',
  '57P03',
  '53300',
])
/** Of the system, and disk_full of PostgreSQL: nothing can be written until somebody makes room. */
const FULL = new Set(['ENOSPC', 'EDQUOT', '53100'])
/** Of PostgreSQL: lock_not_available, and deadlock_detected, which it may see as soon as it is asked for the lock. */
const LOCKED = new Set(['55P03', '40P01'])
const MAX_DEPTH = 5

export const isOutage = (error: unknown): boolean => hasCode(error, CODES)
export const isDiskFull = (error: unknown): boolean => hasCode(error, FULL)
export const isLockFailure = (error: unknown): boolean => hasCode(error, LOCKED)

function hasCode(error: unknown, codes: ReadonlySet<string>): boolean {
  let at = error
  for (let depth = 0; depth < MAX_DEPTH && at instanceof Error; depth++) {
    if (codes.has(String((at as { code?: unknown }).code))) return true
    at = at.cause
  }
  return false
}
