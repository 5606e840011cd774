import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bound, PartNumbers } from './part-numbers.ts'
import { planParts } from './part-plan.ts'

const MiB = 1024 * 1024
const LENGTH = 60 * MiB
const limits = { maxParts: 10_000, equalParts: false, maxPartBytes: 64 * MiB }
const NOTHING: Bound = { number: 0, startBytes: 0, endsBytes: [] }

function open(found: Bound, requestEndBytes?: number, ahead = 4): PartNumbers {
  return new PartNumbers(
    found,
    planParts(limits, { lengthBytes: LENGTH, partBytes: null, requestEndBytes }),
    ahead,
  )
}

describe('the part numbers of an upload', () => {
  it('are bound ahead along the plan, up to the end of the request', () => {
    expect(open(NOTHING).toBind().endsBytes).toEqual([8, 16, 24, 32].map((n) => n * MiB))
    expect(open(NOTHING, 21 * MiB).toBind().endsBytes).toEqual([8, 16, 21].map((n) => n * MiB))
    expect(open(NOTHING, 20 * MiB).toBind().endsBytes).toEqual([8, 16].map((n) => n * MiB))
    const nearItsEnd = { number: 6, startBytes: 48 * MiB, endsBytes: [] }
    expect(open(nearItsEnd).toBind().endsBytes).toEqual([56 * MiB, LENGTH])
  })

  it('are none for a file that fits a single PutObject', () => {
    const plan = planParts(limits, { lengthBytes: 4096, partBytes: null, requestEndBytes: 4096 })
    expect(new PartNumbers(NOTHING, plan, 4).toBind()).toEqual(NOTHING)
  })

  it('may end early where nobody has bound them', () => {
    const numbers = open(NOTHING)
    expect(numbers.mayEndAt(6 * MiB)).toBe(true)
    expect(numbers.mayEndAt(4 * MiB)).toBe(false)
    numbers.take(6 * MiB)
    expect(numbers.isBound(1)).toBe(false)
    expect(numbers.toBind().endsBytes[0]).toBe(6 * MiB)
  })

  it('stay as they are where an earlier writer may have sent them', () => {
    const numbers = open({ number: 2, startBytes: 13 * MiB, endsBytes: [20 * MiB, 27 * MiB] })
    expect(numbers.targetBytes).toBe(20 * MiB)
    expect(numbers.mayEndAt(19 * MiB)).toBe(false)
    expect(numbers.take(20 * MiB)).toBe(3)
    expect(numbers.isBound(3)).toBe(true)
    expect(numbers.targetBytes).toBe(27 * MiB)
    expect(numbers.toKeep()).toEqual({ number: 2, startBytes: 13 * MiB, endsBytes: [20 * MiB, 27 * MiB] })
  })

  it('are free again once a writer that has not sent them lets go', () => {
    const numbers = open(NOTHING)
    numbers.bindingWritten(numbers.toBind())
    numbers.take(8 * MiB)
    expect(numbers.toKeep()).toEqual(NOTHING)
    numbers.markSent(1)
    expect(numbers.toKeep()).toEqual({ ...NOTHING, endsBytes: [8 * MiB] })
    expect(numbers.toKeep({ recording: true })).toEqual({ number: 1, startBytes: 8 * MiB, endsBytes: [] })
  })

  it('mean the same bytes in every request that ever goes out, whoever crashes when', () => {
    const choice = fc.nat(99)
    const request = fc.record({ bytes: fc.integer({ min: 1, max: 30 * MiB }), known: fc.boolean() })
    fc.assert(
      fc.property(
        fc.array(request, { minLength: 1, maxLength: 8 }),
        fc.infiniteStream(choice),
        (requests, chance) => {
          const chosen = (percent: number) => chance.next().value! < percent
          const sent = new Map<number, string>()
          let ledger = NOTHING
          for (const { bytes, known } of requests) {
            const endBytes = Math.min(ledger.startBytes + bytes, LENGTH)
            const numbers = open(ledger, known ? endBytes : undefined)
            ledger = numbers.toBind()
            numbers.bindingWritten(ledger)
            const flying: number[] = []
            const record = () => {
              flying.shift()
              ledger = numbers.toBind({ recording: true })
              numbers.bindingWritten(ledger)
            }
            let crashed = false
            while (numbers.startBytes < endBytes && !crashed) {
              const early = numbers.startBytes + 5 * MiB + chance.next().value!
              const target = Math.min(numbers.targetBytes, LENGTH)
              const end = chosen(20) && early < target && numbers.mayEndAt(early) ? early : target
              if (end > endBytes && !numbers.mayEndAt(endBytes)) break
              const range = `${numbers.startBytes}-${Math.min(end, Math.max(endBytes, numbers.startBytes))}`
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
            ledger = numbers.toKeep()
          }
          expect([...sent.keys()].toSorted((a, b) => a - b)).toEqual(Array.from(sent, (_, n) => n + 1))
        },
      ),
      { numRuns: 500 },
    )
  })
})
