/**
 * Pages that parts are gathered on. They are used again: a fresh one costs page faults, and chunks that lived as long as
 * a part would cost the garbage collector more than copying them does.
 */
export type PagePool = { take(): Buffer; give(page: Buffer): void }

export const PAGE_BYTES = 64 * 1024
/** What a part begins with, so that a crowd of clients that sent a few bytes each does not hold a page each. */
export const FIRST_PAGE_BYTES = 4096

export function createPagePool(keepBytes: number): PagePool {
  const free: Buffer[] = []
  const most = Math.floor(keepBytes / PAGE_BYTES)
  return {
    take: () => free.pop() ?? Buffer.allocUnsafeSlow(PAGE_BYTES),
    give(page) {
      if (page.length === PAGE_BYTES && free.length < most) free.push(page)
    },
  }
}
