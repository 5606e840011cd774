import { create, head, inParallel, MiB, patch, send, type Target, upload } from '../load.ts'
import type { Name } from './line-up.ts'

/** Contenders that accept a plain PUT, but do not support resumable uploads. */
export const PIPES: readonly Name[] = ['bare', 'floor', 'ledger floor']

export type Load = {
  what: string
  /** The amount of work, in GiB or in thousands of requests. */
  amount: number
  unit: { cpu: string; rate: string; perSecond: number }
  /** The goal is at most this many times tusd's CPU: for uploads alone, and for what `npm start` runs. */
  most: number
  mostByDefault: number
  /**
   * Over TLS, the goal is at most this many times the CPU of the bare pipe and of either floor, if they support the
   * load.
   */
  mostOfBare?: number
  mostOfFloor?: number
  crowded?: boolean
  run(target: Target, name: Name): Promise<unknown>
}
const FILES = 8
const FILE_BYTES = 64 * MiB
const BYTES = { cpu: 's/GiB', rate: 'MiB/s', perSecond: 1024 }
const REQUESTS = { cpu: 's/1000', rate: 'a second', perSecond: 1000 }

const bytes = (what: string, atOnce: number, chunkBytes: number): Load => ({
  what,
  amount: (FILES * FILE_BYTES) / (1024 * MiB),
  unit: BYTES,
  most: 0.8,
  mostByDefault: 0.5,
  mostOfBare: 1.3,
  mostOfFloor: 1.15,
  run: (target, name) =>
    inParallel(FILES, atOnce, async () => {
      if (!PIPES.includes(name)) return upload(target, FILE_BYTES, chunkBytes)
      for (let at = 0; at < FILE_BYTES; at += chunkBytes)
        await send({ method: 'PUT', url: target.collection, headers: target.headers, bytes: chunkBytes })
    }),
})

const requests = (
  what: string,
  count: number,
  atOnce: number,
  one: (target: Target) => Promise<unknown>,
): Load => ({
  what,
  amount: count / 1000,
  unit: REQUESTS,
  most: 0.7,
  mostByDefault: 0.6,
  run: (target) => inParallel(count, atOnce, async () => void (await one(target))),
})

const known = new WeakMap<Target, Promise<string>>()

async function headOfOne(target: Target): Promise<void> {
  const url = known.get(target) ?? create(target, 100)
  known.set(target, url)
  await head(target, await url)
}

export const LOADS: Load[] = [
  bytes('one PATCH of 64 MiB', 1, FILE_BYTES),
  bytes('chunks of 8 MiB', 1, 8 * MiB),
  bytes('8 files of 64 MiB at once', FILES, FILE_BYTES),
  requests('files of 4 KiB by POST and PATCH', 1000, 16, async (target) =>
    patch(target, await create(target, 4096), 0, 4096),
  ),
  requests('files of 4 KiB in one POST', 1000, 16, (target) => create(target, 4096, 4096)),
  {
    ...requests('a folder of 2,000 files of 4 KiB, 500 at once', 2000, 500, (target) =>
      create(target, 4096, 4096),
    ),
    crowded: true,
  },
  { ...requests('HEAD', 2000, 16, headOfOne), mostByDefault: 0.4 },
]
