/**
 * Pages that the bytes of parts are copied into. They are reused, because new pages cause page faults. Keeping the
 * chunks themselves until their part is sent would cost more in garbage collection than copying them.
 */
export type PagePool = {
  take(): Buffer
  /** A smaller page, for the beginning of a part. */
  takeFirst(): Buffer
  give(page: Buffer): void
}

export const PAGE_BYTES = 64 * 1024
/**
 * The size of a part's first page: small, so that many clients that have sent a few bytes do not each hold a full
 * page.
 */
export const FIRST_PAGE_BYTES = 4096
/**
 * Pages are cut from slabs. Separate pages would be scattered over malloc's heap, which only returns memory to the
 * system from its end. A slab is large enough for malloc to map it separately, and only takes up memory where it has
 * been written to.
 */
export const SLAB_BYTES = 32 * 1024 * 1024
/** How long an empty slab is kept. After this time, no aborted request is still sending from it. */
export const SLAB_KEPT_MS = 60_000

export function createPagePool(): PagePool {
  const pages = createSlabs(PAGE_BYTES)
  const firstPages = createSlabs(FIRST_PAGE_BYTES)
  return {
    take: pages.take,
    takeFirst: firstPages.take,
    give: (page) => (page.length === FIRST_PAGE_BYTES ? firstPages : pages).give(page),
  }
}

type Slab = { memory: ArrayBuffer; used: number; free: Buffer[]; drop?: NodeJS.Timeout }

function createSlabs(pageBytes: number) {
  const slabPages = SLAB_BYTES / pageBytes
  /** The oldest comes first. Pages come from the first slab with room, so that later slabs become empty. */
  const slabs: Slab[] = []

  const addSlab = () => {
    const slab: Slab = { memory: new ArrayBuffer(SLAB_BYTES), used: 0, free: [] }
    slabs.push(slab)
    return slab
  }
  const drop = (slab: Slab) => {
    slabs.splice(slabs.indexOf(slab), 1)
    slab.memory.transfer(0)
  }
  return {
    take(): Buffer {
      const slab = slabs.find(({ used }) => used < slabPages) ?? addSlab()
      clearTimeout(slab.drop)
      // If no page is free, all pages cut so far are in use.
      const page = slab.free.pop() ?? Buffer.from(slab.memory, slab.used * pageBytes, pageBytes)
      slab.used += 1
      return page
    },
    give(page: Buffer): void {
      const slab = slabs.find(({ memory }) => memory === page.buffer)
      if (!slab) return
      slab.free.push(page)
      slab.used -= 1
      if (slab.used === 0) slab.drop = setTimeout(drop, SLAB_KEPT_MS, slab).unref()
    },
  }
}
