import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bound, NOTHING_BOUND, PartNumbers } from './part-numbers.ts'
import { planParts } from './part-plan.ts'

const MiB = 1024 * 1024
const LENGTH = 60 * MiB
const limits = { maxParts: 10_000, equalParts: false, maxPartBytes: 64 * MiB }

function open(found: Bound, requestEndOffset?: number, ahead = 4): PartNumbers {
  return new PartNumbers(
    found,
    planParts(limits, { lengthBytes: LENGTH, partBytes: null, requestEndOffset }),
    ahead,
  )
}

describe("an upload's part numbers", () => {
  it('are bound in advance according to the plan, up to the end of the request', () => {
    expect(open(NOTHING_BOUND).toBind().boundEnds).toEqual([8, 16, 24, 32].map((n) => n * MiB))
    expect(open(NOTHING_BOUND, 21 * MiB).toBind().boundEnds).toEqual([8, 16, 21].map((n) => n * MiB))
    expect(open(NOTHING_BOUND, 20 * MiB).toBind().boundEnds).toEqual([8, 16].map((n) => n * MiB))
    const nearItsEnd = { recordedParts: 6, recordedBytes: 48 * MiB, boundEnds: [] }
    expect(open(nearItsEnd).toBind().boundEnds).toEqual([56 * MiB, LENGTH])
  })

  it('are not used for a file that fits a single PutObject', () => {
    const plan = planParts(limits, { lengthBytes: 4096, partBytes: null, requestEndOffset: 4096 })
    expect(new PartNumbers(NOTHING_BOUND, plan, 4).toBind()).toEqual(NOTHING_BOUND)
  })

  it('allow parts to end early if nobody has bound them', () => {
    const numbers = open(NOTHING_BOUND)
    expect(numbers.mayEndAt(6 * MiB)).toBe(true)
    expect(numbers.mayEndAt(4 * MiB)).toBe(false)
    numbers.take(6 * MiB)
    expect(numbers.isBound(1)).toBe(false)
    expect(numbers.toBind().boundEnds[0]).toBe(6 * MiB)
  })

  it('stay unchanged if an earlier writer may have sent them', () => {
    const numbers = open({ recordedParts: 2, recordedBytes: 13 * MiB, boundEnds: [20 * MiB, 27 * MiB] })
    expect(numbers.targetOffset).toBe(20 * MiB)
    expect(numbers.mayEndAt(19 * MiB)).toBe(false)
    expect(numbers.take(20 * MiB)).toBe(3)
    expect(numbers.isBound(3)).toBe(true)
    expect(numbers.targetOffset).toBe(27 * MiB)
    expect(numbers.boundAfterRelease()).toEqual({
      recordedParts: 2,
      recordedBytes: 13 * MiB,
      boundEnds: [20 * MiB, 27 * MiB],
    })
  })

  it('become free again if a writer releases the lease without having sent them', () => {
    const numbers = open(NOTHING_BOUND)
    numbers.bindingWritten(numbers.toBind())
    numbers.take(8 * MiB)
    expect(numbers.boundAfterRelease()).toEqual(NOTHING_BOUND)
    numbers.markSent(1)
    expect(numbers.boundAfterRelease()).toEqual({ ...NOTHING_BOUND, boundEnds: [8 * MiB] })
    expect(numbers.boundAfterRelease({ recording: true })).toEqual({
      recordedParts: 1,
      recordedBytes: 8 * MiB,
      boundEnds: [],
    })
  })

  it('refer to the same bytes in every request, whenever a writer crashes', () => {
    const choice = fc.nat(99)
    const request = fc.record({ bytes: fc.integer({ min: 1, max: 30 * MiB }), known: fc.boolean() })
    fc.assert(
      fc.property(
        fc.array(request, { minLength: 1, maxLength: 8 }),
        fc.infiniteStream(choice),
        (requests, chance) => {
          const chosen = (percent: number) => chance.next().value! < percent
          const sent = new Map<number, string>()
          let ledger = NOTHING_BOUND
          for (const { bytes, known } of requests) {
            const endOffset = Math.min(ledger.recordedBytes + bytes, LENGTH)
            const numbers = open(ledger, known ? endOffset : undefined)
            ledger = numbers.toBind()
            numbers.bindingWritten(ledger)
            const flying: number[] = []
            const record = () => {
              flying.shift()
              ledger = numbers.toBind({ recording: true })
              numbers.bindingWritten(ledger)
            }
            let crashed = false
            while (numbers.startOffset < endOffset && !crashed) {
              const early = numbers.startOffset + 5 * MiB + chance.next().value!
              const target = Math.min(numbers.targetOffset, LENGTH)
              const end = chosen(20) && early < target && numbers.mayEndAt(early) ? early : target
              if (end > endOffset && !numbers.mayEndAt(endOffset)) break
              const range = `${numbers.startOffset}-${Math.min(end, Math.max(endOffset, numbers.startOffset))}`
              const number = numbers.take(Number(range.split('-')[1]))
              if (!numbers.isBound(number)) {
                while (flying.length > 0) record()
                ledger = numbers.toBind()
                numbers.bindingWritten(ledger)
              }
              expect(sent.get(number) ?? range).toBe(range)
              sent.set(number, range)
              numbers.markSent(number)
              flying.push(number)
              if (flying.length === 3 || chosen(30)) record()
              crashed = chosen(15)
            }
            if (crashed) continue
            if (chosen(70)) while (flying.length > 0) record()
            ledger = numbers.boundAfterRelease()
          }
          expect([...sent.keys()].toSorted((a, b) => a - b)).toEqual(Array.from(sent, (_, n) => n + 1))
        },
      ),
      { numRuns: 500 },
    )
  })
})
