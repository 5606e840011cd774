import { type SQL, sql } from 'drizzle-orm'
import { isSluiceError, type SluiceError } from '../../platform/kernel/errors.ts'
import { isSpent, limitReached, takeFromLimit } from '../../platform/rate-limits.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'

/**
 * An upload whose first bytes are refused does not count toward its token's files, so such uploads have their own
 * limit.
 */
const PER_TOKEN = { burst: 30, refillMs: 10_000 }

export async function countRefusedCreation(runtime: CoreRuntime, tokenId: string): Promise<void> {
  await takeFromLimit(runtime, keyOf(tokenId), PER_TOKEN).catch((error) => {
    // Ignored: uploads refused at the same time have used up the limit, so the next creation gets the error.
    if (!isSluiceError(error)) throw error
  })
}

/** SQL condition for the token `t`. */
export function hasTooManyRefused(nowMs: number): SQL {
  return isSpent(sql`${keyOf('')} || t.id`, PER_TOKEN, nowMs)
}

export function tooManyRefused(): SluiceError {
  return limitReached(PER_TOKEN.refillMs)
}

function keyOf(tokenId: string): string {
  return `refused:${tokenId}`
}
