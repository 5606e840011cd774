import { expect, it } from 'vitest'
import type { ByteSource } from './byte-source.ts'
import type { StopReason } from './lease/held-lease.ts'
import { createMemoryBudget, type MemoryAccount } from './memory/memory-budget.ts'
import type { PartBuffer } from './memory/part-buffer.ts'
import type { Spillable } from './memory/spill-slow-parts.ts'
import type { OpenUpload } from './open-upload.ts'
import type { PartLine } from './part-line.ts'
import { receive } from './receive.ts'
import type { UploadContext } from './upload-context.ts'

const MiB = 1024 * 1024

type Options = {
  early?: Buffer
  full?: boolean
  account?: MemoryAccount
  clock?: { now(): number }
  signal?: AbortSignal
  onStop?: (stop: (why: StopReason) => void) => void
}

/** A request in the middle of its upload, with a budget and a line that do as they are told. */
function request(lengthBytes: number, options: Options = {}) {
  const budget = {
    ...{ full: options.full ?? false, take() {}, give() {} },
    pages: { taken: 0, take: () => Buffer.alloc(65_536), give() {} },
    offered: undefined as Spillable | undefined,
    offers: 0,
    waiting: [] as (() => void)[],
    offer(spillable: Spillable) {
      budget.offered = spillable
      budget.offers += 1
    },
    withdraw() {
      budget.offers -= 1
    },
    whenFree: (resume: () => void) => void budget.waiting.push(resume),
  }
  const line = {
    ...{ endBytes: 0, waiting: [] as PartBuffer[], kept: [] as Buffer[] },
    async keepTail(buffer: PartBuffer) {
      line.kept.push(buffer.joined())
      line.endBytes += buffer.bytes
      buffer.free()
    },
    send(buffer: PartBuffer) {
      line.endBytes += buffer.bytes
      line.waiting.push(buffer)
    },
  }
  let flowing = false
  let push = (_: Buffer): number => 0
  const source: ByteSource = {
    start(onChunk) {
      push = onChunk
      flowing = true
      if (options.early) onChunk(options.early)
    },
    pause() {
      flowing = false
    },
    resume() {
      flowing = true
    },
    stop() {},
  }
  const { signal = new AbortController().signal, onStop = () => {} } = options
  const lease = { touch() {}, onStop, signal }
  const numbers = {
    get targetBytes() {
      return (Math.floor(line.endBytes / (8 * MiB)) + 1) * 8 * MiB
    },
    mayEndAt: () => false,
  }
  const receiver = receive(
    {
      budget: { account: () => options.account ?? budget },
      clock: options.clock ?? { now: () => 0 },
      terms: { partsInFlight: 3 },
    } as unknown as UploadContext,
    { lease, numbers, lengthBytes } as unknown as OpenUpload,
    source,
    { line: () => line as unknown as PartLine, mayTakeBytes: lengthBytes, whole: false },
  )
  return {
    budget,
    line,
    receiver,
    push: (bytes: number) => push(Buffer.alloc(bytes, 'sluice')),
    flows: () => flowing,
  }
}

it('reads on once there is memory, though it was first the line that held it up', () => {
  const { budget, line, receiver, push, flows } = request(100 * MiB)
  push(24 * MiB)
  expect(line.waiting).toHaveLength(3)
  expect(flows()).toBe(false)
  // Others use the memory up, and are not done when the last part of this request has gone.
  budget.full = true
  for (const _ of [1, 2, 3]) {
    line.waiting.shift()
    receiver.onRoom()
  }
  expect(flows()).toBe(false)
  budget.full = false
  for (const resume of budget.waiting.splice(0)) resume()
  expect(flows()).toBe(true)
})

it('asks for a call at most once while it waits for memory', () => {
  const { budget, line, receiver, push } = request(100 * MiB)
  budget.full = true
  push(9 * MiB)
  for (const _ of [1, 2, 3]) receiver.onRoom()
  line.waiting.shift()
  receiver.onRoom()
  expect(budget.waiting).toHaveLength(1)
})

it('does not offer the last bytes of a file, since nothing would come of it', () => {
  const { budget, push } = request(3 * MiB)
  push(2 * MiB)
  expect(budget.offered!.heldBytes()).toBeGreaterThan(2 * MiB)
  push(MiB)
  expect(budget.offered!.heldBytes()).toBe(0)
})

it('is open for the end of the request when all bytes are there, however little memory is left', () => {
  const { budget, push, flows } = request(3 * MiB)
  push(2 * MiB)
  budget.pages.take = () => {
    budget.full = budget.pages.taken++ === 15
    return Buffer.alloc(65_536)
  }
  expect(push(MiB)).toBe(MiB)
  expect(budget.full).toBe(true)
  expect(flows()).toBe(true)
})

it('takes no byte of a chunk that comes while others have used the memory up, and all once there is some', () => {
  const { budget, push, flows, receiver } = request(3 * MiB)
  budget.full = true
  expect(push(1000)).toBe(0)
  expect(flows()).toBe(false)
  budget.full = false
  receiver.onRoom()
  expect(flows()).toBe(true)
  expect(push(1000)).toBe(1000)
})

it('takes as much of a large chunk as there is memory for', () => {
  const { budget, push, flows } = request(3 * MiB)
  budget.pages.take = () => {
    budget.full = budget.pages.taken++ === 1
    return Buffer.alloc(65_536)
  }
  expect(push(MiB)).toBe(2 * 65_536)
  expect(flows()).toBe(false)
})

it('does not offer what waits behind a part on its way, which would hold up everybody who waits for memory', () => {
  const { budget, line, push } = request(100 * MiB)
  push(9 * MiB)
  expect(budget.offered!.heldBytes()).toBe(0)
  line.waiting.shift()
  expect(budget.offered!.heldBytes()).toBeGreaterThan(MiB)
})

it('offers a part from its first byte until it is sent', () => {
  const { push, budget } = request(64 * MiB)
  expect(budget.offers).toBe(0)
  push(MiB)
  push(MiB)
  expect(budget.offers).toBe(1)
  push(6 * MiB)
  expect(budget.offers).toBe(0)
})

it('keeps every byte of a part that is moved out because its own bytes use the memory up', async () => {
  let now = 0
  const clock = { now: () => now }
  const account = createMemoryBudget(64 * MiB, { clock }).account({ workspaceId: 'a' })
  account.take(22 * MiB)
  const { line, push } = request(100 * MiB, { account, clock })
  push(100)
  now = 5000
  push(MiB)
  await new Promise(setImmediate)
  const sent = [100, MiB].map((bytes) => Buffer.alloc(bytes, 'sluice'))
  expect(line.kept).toHaveLength(1)
  expect(line.kept[0]!.equals(Buffer.concat(sent))).toBe(true)
})

it('offers the memory that a few bytes hold', () => {
  const { budget, push } = request(MiB)
  push(1)
  expect(budget.offered!.heldBytes()).toBe(4096)
})

it('reads no further than what is here while there is no memory', () => {
  const { flows } = request(MiB, { full: true })
  expect(flows()).toBe(false)
})

it('keeps the bytes that are here when it is to stop at once', async () => {
  const { receiver } = request(MiB, { early: Buffer.alloc(1000), onStop: (stop) => stop('draining') })
  const { why, rest } = await receiver.done
  expect({ why, bytes: rest.bytes }).toEqual({ why: 'draining', bytes: 1000 })
})

it('reads nothing when its lease is lost before it begins', async () => {
  const { receiver } = request(MiB, { signal: AbortSignal.abort() })
  expect((await receiver.done).why).toBe('fault')
})
