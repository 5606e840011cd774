import { readdirSync, readFileSync } from 'node:fs'
import type { Logger } from '../lib/platform/log/log.ts'

export type Descriptors = { open: number; limit: number }

const LOOK_EVERY_MS = 5000
const NEAR = 0.9
const FAR = 0.8

/**
 * At the limit, the system silently accepts connections and closes them immediately. This logs once when the limit is
 * near, and once when it is no longer near.
 */
export function watchDescriptors(
  log: Logger,
  count: () => Descriptors | undefined = countDescriptors,
): { look(): void; stop(): void } {
  let isNear = false
  const look = () => {
    const found = count()
    if (!found) return
    const share = found.open / found.limit
    if (!isNear && share > NEAR) log.error(found, 'the limit on open files is near: connections will be lost')
    if (isNear && share < FAR) log.warn(found, 'the limit on open files is no longer near')
    if (share > NEAR || share < FAR) isNear = share > NEAR
  }
  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  return { look, stop: () => clearInterval(timer) }
}

/** Returns undefined if the system does not report the limit. */
export function countDescriptors(): Descriptors | undefined {
  try {
    const limit = readFileSync('/proc/self/limits', 'utf8').match(/^Max open files +(\d+)/m)?.[1]
    return limit ? { open: readdirSync('/proc/self/fd').length, limit: Number(limit) } : undefined
  } catch (error) {
    // The limit is reached: not even these two files can be opened.
    if ((error as NodeJS.ErrnoException).code === 'EMFILE') return { open: 1, limit: 1 }
    return undefined
  }
}
