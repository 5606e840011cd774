import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { type MemoryAccount, MemoryBudget } from '../../upload-memory/memory-budget.ts'
import type { Spillable } from '../../upload-memory/spill-slow-parts.ts'
import type { StopReason } from '../lease/held-lease.ts'
import type { Upload } from '../opening/upload.ts'
import type { UploadContext } from '../upload-context.ts'
import type { ByteSource, Piece, Rest } from './pieces.ts'
import { Reader } from './reader.ts'

const MiB = 1024 * 1024
const PART_BYTES = 8 * MiB
const PARTS_IN_FLIGHT = 3

type Options = {
  early?: Buffer
  full?: boolean
  account?: MemoryAccount
  clock?: { now(): number }
  signal?: AbortSignal
  limitBytes?: number
  onStop?: (stop: (why: StopReason) => void) => void
}

/** A memory account that is full whenever the test says so. */
function memoryOf(full: boolean) {
  const budget = {
    full,
    take() {},
    give() {},
    pages: { taken: 0, take: () => Buffer.alloc(65_536), takeFirst: () => Buffer.alloc(4096), give() {} },
    offered: undefined as Spillable | undefined,
    offers: 0,
    waiting: [] as (() => void)[],
    offer(spillable: Spillable) {
      budget.offered = spillable
      budget.offers = 1
    },
    withdraw() {
      budget.offers = 0
    },
    whenFree: (resume: () => void) => void budget.waiting.push(resume),
  }
  return budget
}

/** Accepts pieces, and keeps all except the rest in flight until the test records them one by one. */
function partsOf(signal: AbortSignal) {
  const waiting: Piece[] = []
  let freed = Promise.withResolvers<void>()
  return {
    signal,
    isAtomic: false,
    waiting,
    endOffset: 0,
    get isIdle() {
      return waiting.length === 0
    },
    async room() {
      while (waiting.length >= PARTS_IN_FLIGHT) await freed.promise
    },
    record() {
      waiting.shift()
      freed.resolve()
      freed = Promise.withResolvers<void>()
    },
  }
}

/** A source that the test pushes bytes into. */
function sourceOf(early: Buffer | undefined) {
  const source = {
    flows: false,
    push: (_: Buffer): number => 0,
    end: (_: 'end' | 'cut'): void => {},
    start(onChunk: (chunk: Buffer) => number, onEnd: (how: 'end' | 'cut') => void) {
      source.push = onChunk
      source.end = onEnd
      source.flows = true
      if (early) onChunk(early)
    },
    pause() {
      source.flows = false
    },
    resume() {
      source.flows = true
    },
    stop() {},
  }
  return source satisfies ByteSource
}

/** An upload request from its start, whose pieces go to parts controlled by the test. */
async function request(lengthBytes: number, options: Options = {}) {
  const { signal = new AbortController().signal, onStop = () => {}, limitBytes = lengthBytes } = options
  const budget = memoryOf(options.full ?? false)
  const parts = partsOf(signal)
  const source = sourceOf(options.early)
  const numbers = {
    get targetOffset() {
      return (Math.floor(parts.endOffset / PART_BYTES) + 1) * PART_BYTES
    },
  }
  const context = { clock: options.clock ?? { now: () => 0 } }
  const memory = options.account ?? budget
  const upload = { lease: { touch() {}, onStop }, memory, numbers, progress: { lengthBytes, offsetBytes: 0 } }
  const reader = new Reader(context as unknown as UploadContext, upload as unknown as Upload, source, {
    limitBytes,
    parts,
  })
  const pieces: (Piece | Rest)[] = []
  const reading = (async () => {
    for (;;) {
      const piece = await reader.next()
      pieces.push(piece)
      if (piece.kind === 'rest') return piece
      parts.endOffset += piece.buffer.bytes
      if (piece.kind === 'part') parts.waiting.push(piece)
      else piece.stored()
    }
  })()
  reading.catch(() => {})
  const settle = () => new Promise(setImmediate)
  await settle()
  return {
    budget,
    parts,
    pieces,
    source,
    reading,
    dispose: () => reader.dispose(),
    /** Offers bytes for as long as the reader accepts them, like a source that keeps the rest. */
    async push(bytes: number) {
      let taken = 0
      do {
        taken += source.push(Buffer.alloc(bytes - taken, 'sluice'))
        await settle()
      } while (source.flows && taken < bytes)
      return taken
    },
    async record() {
      parts.record()
      await settle()
    },
    flows: () => source.flows,
  }
}

it('cuts the body into parts, and leaves the rest for the end', async () => {
  const { push, pieces, source, reading } = await request(20 * MiB)
  await push(9 * MiB)
  await push(10 * MiB)
  source.end('cut')
  const rest = await reading
  expect(rest).toMatchObject({ kind: 'rest', why: 'cut' })
  expect(pieces.map(({ buffer }) => buffer.bytes)).toEqual([8 * MiB, 8 * MiB, 3 * MiB])
})

it('starts the next part with the rest of a page', async () => {
  const { push, pieces, source, reading } = await request(20 * MiB)
  const sentBytes = 168 * 50_000
  for (let sent = 0; sent < sentBytes; sent += 50_000) expect(await push(50_000)).toBe(50_000)
  source.end('cut')
  await reading
  expect(pieces.map(({ buffer }) => buffer.bytes)).toEqual([8 * MiB, sentBytes - 8 * MiB])
})

it('continues reading once memory is free, even if the parts blocked it first', async () => {
  const { budget, parts, push, record, flows } = await request(100 * MiB)
  await push(24 * MiB)
  expect(parts.waiting).toHaveLength(3)
  expect(flows()).toBe(false)
  // Other requests use up the memory, and still hold it when this request's last part has been sent.
  budget.full = true
  for (const _ of [1, 2, 3]) await record()
  expect(flows()).toBe(false)
  budget.full = false
  for (const resume of budget.waiting.splice(0)) resume()
  expect(flows()).toBe(true)
})

it('registers for a callback at most once while it waits for memory', async () => {
  const { budget, parts, record, push } = await request(100 * MiB)
  await push(9 * MiB)
  budget.full = true
  await push(MiB)
  await push(MiB)
  expect(parts.waiting).toHaveLength(1)
  await record()
  expect(budget.waiting).toHaveLength(1)
})

it("does not offer a file's last bytes for spilling, which would be pointless", async () => {
  const { budget, push } = await request(3 * MiB)
  await push(2 * MiB)
  expect(budget.offered!.heldBytes()).toBeGreaterThan(2 * MiB)
  await push(MiB)
  expect(budget.offered!.heldBytes()).toBe(0)
})

it('reads the end of the request once all bytes have arrived, however little memory is left', async () => {
  const { budget, push, flows } = await request(3 * MiB)
  await push(2 * MiB)
  budget.pages.take = () => {
    budget.full = budget.pages.taken++ === 15
    return Buffer.alloc(65_536)
  }
  expect(await push(MiB)).toBe(MiB)
  expect(budget.full).toBe(true)
  expect(flows()).toBe(true)
})

it('reads the end of the request once all bytes have arrived, however many parts are in flight', async () => {
  const { push, parts, flows, source, reading } = await request(24 * MiB + 100)
  await push(100)
  await push(16 * MiB)
  await push(8 * MiB)
  expect(parts.waiting).toHaveLength(3)
  expect(flows()).toBe(true)
  source.end('end')
  parts.record()
  expect(await reading).toMatchObject({ why: 'end', buffer: { bytes: 100 } })
})

it('ends immediately when interrupted while there is no room for a part', async () => {
  const { push, parts, source, reading } = await request(100 * MiB)
  await push(24 * MiB)
  expect(parts.waiting).toHaveLength(3)
  source.end('cut')
  expect(await reading).toMatchObject({ why: 'cut' })
})

it('accepts none of a chunk that arrives while no memory is left, and all of it once memory is free', async () => {
  const { budget, push, flows } = await request(3 * MiB)
  budget.full = true
  expect(await push(1000)).toBe(0)
  expect(flows()).toBe(false)
  budget.full = false
  for (const resume of budget.waiting.splice(0)) resume()
  expect(flows()).toBe(true)
  expect(await push(1000)).toBe(1000)
})

it('accepts as much of a large chunk as fits into memory', async () => {
  const { budget, push, flows } = await request(3 * MiB)
  budget.pages.take = () => {
    budget.full = budget.pages.taken++ === 1
    return Buffer.alloc(65_536)
  }
  expect(await push(MiB)).toBe(2 * 65_536)
  expect(flows()).toBe(false)
})

it('does not offer bytes that follow a part in flight, because spilling them would block everyone waiting for memory', async () => {
  const { budget, record, push } = await request(100 * MiB)
  await push(9 * MiB)
  expect(budget.offered!.heldBytes()).toBe(0)
  await record()
  expect(budget.offered!.heldBytes()).toBeGreaterThan(MiB)
})

it('offers a part from its first byte until it is full', async () => {
  const { push, budget } = await request(64 * MiB)
  expect(budget.offers).toBe(0)
  await push(MiB)
  await push(MiB)
  expect(budget.offers).toBe(1)
  await push(6 * MiB)
  expect(budget.offers).toBe(0)
})

it('keeps every byte of a part that is spilled because its own bytes have used up the memory', async () => {
  let now = 0
  const clock = { now: () => now }
  const account = new MemoryBudget(64 * MiB, { clock }).account({ workspaceId: 'a' })
  account.take(22 * MiB)
  const { pieces, push } = await request(100 * MiB, { account, clock })
  await push(100)
  now = 5000
  await push(MiB)
  const sent = [100, MiB].map((bytes) => Buffer.alloc(bytes, 'sluice'))
  expect(pieces.map(({ kind }) => kind)).toEqual(['spill'])
  expect(pieces[0]!.buffer.joined().equals(Buffer.concat(sent))).toBe(true)
})

it('offers the memory held by a few bytes', async () => {
  const { budget, push } = await request(MiB)
  await push(1)
  expect(budget.offered!.heldBytes()).toBe(4096)
})

it('reads only what has arrived while there is no memory', async () => {
  const { flows } = await request(MiB, { full: true })
  expect(flows()).toBe(false)
})

it('keeps the bytes that have arrived when it must stop immediately', async () => {
  const { reading } = await request(MiB, { early: Buffer.alloc(1000), onStop: (stop) => stop('draining') })
  expect(await reading).toMatchObject({ why: 'draining', buffer: { bytes: 1000 } })
})

it('accepts no byte of a chunk that exceeds the limit', async () => {
  const { push, reading } = await request(MiB, { limitBytes: 1000 })
  await push(900)
  await push(200)
  expect(await reading).toMatchObject({ why: 'overrun', buffer: { bytes: 900 } })
})

it("rejects with the parts' first fault, even while no bytes arrive", async () => {
  const faults = new AbortController()
  const { push, reading } = await request(MiB, { signal: faults.signal })
  await push(1000)
  faults.abort(new Error('the bucket is gone'))
  await expect(reading).rejects.toThrow('the bucket is gone')
})

it('reads nothing if its lease is lost before it starts', async () => {
  const { reading, flows } = await request(MiB, { signal: AbortSignal.abort(new Error('lost')) })
  await expect(reading).rejects.toThrow('lost')
  expect(flows()).toBe(false)
})

it('stops listening for faults when the request ends', async () => {
  const { signal } = new AbortController()
  const { source, reading, dispose } = await request(MiB, { signal })
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  source.end('end')
  await reading
  dispose()
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
