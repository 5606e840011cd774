import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { largestPartBytes, MIN_PART_BYTES } from '../../upload-memory/part-sizes.ts'
import { equalPartBytes, largestUpload, mayCloseEarly, nextPartBytes, partLimits } from './part-plan.ts'

const MiB = 1024 * 1024
const GiB = 1024 * MiB
const TiB = 1024 * GiB
const aws = partLimits({ maxParts: 10_000, equalParts: false }, largestPartBytes(64 * GiB))
const r2 = partLimits({ maxParts: 10_000, equalParts: true }, largestPartBytes(64 * GiB))
const scaleway = partLimits({ maxParts: 1000, equalParts: false }, largestPartBytes(64 * GiB))

/** Cuts an upload into parts as if nothing interrupted it, and returns their number. */
function partsOf(limits: typeof aws, lengthBytes: number, known: boolean): number {
  let offsetBytes = 0
  let nextNumber = 1
  while (offsetBytes < lengthBytes) {
    offsetBytes += nextPartBytes(limits, { lengthBytes: known ? lengthBytes : null, offsetBytes, nextNumber })
    nextNumber += 1
    if (nextNumber > 20_000) break
  }
  return nextNumber - 1
}

describe('the part plan', () => {
  it.each([
    ['a small file', aws, 100 * MiB, 13],
    ['a file for which 8 MiB is enough', aws, 70 * GiB, 8960],
  ])('fits %s of known length into equal parts', (_, limits, lengthBytes, parts) => {
    expect(partsOf(limits, lengthBytes, true)).toBe(parts)
  })

  it.each([aws, r2, scaleway])('fits the largest upload into the available numbers', (limits) => {
    expect(partsOf(limits, largestUpload(limits), true)).toBeLessThanOrEqual(limits.maxParts)
  })

  /** As documented in docs/operations.md. */
  it.each([
    [10_000, false, 4 * GiB, '4.64 TiB'],
    [10_000, false, 64 * GiB, '4.64 TiB'],
    [10_000, false, GiB, '1.16 TiB'],
    [10_000, false, 256 * MiB, '297 GiB'],
    [10_000, true, 4 * GiB, '594 GiB'],
    [10_000, true, 256 * MiB, '297 GiB'],
    [1000, false, 4 * GiB, '475 GiB'],
    [1000, false, 256 * MiB, '29.7 GiB'],
  ])('with %i parts (equal sizes: %s) and %i bytes of memory, the largest file has %s', (...row) => {
    const [maxParts, equalParts, memoryBytes, words] = row
    const limits = partLimits({ maxParts, equalParts }, largestPartBytes(memoryBytes))
    const largest = largestUpload(limits)
    const [value, unit] = largest >= TiB ? [largest / TiB, 'TiB'] : [largest / GiB, 'GiB']
    expect(`${Number(value.toPrecision(3))} ${unit}`).toBe(words)
    expect(partsOf(limits, largest, true)).toBeLessThanOrEqual(maxParts)
    expect(readFileSync('docs/operations.md', 'utf8')).toContain(` ${words} `)
  })

  it.each([aws, scaleway])(
    'with a deferred length, reaches two fifths of the largest size, however often it is interrupted',
    (limits) => {
      let offsetBytes = 0
      for (let nextNumber = 1; nextNumber <= limits.maxParts; nextNumber++) {
        const at = { lengthBytes: null, offsetBytes, nextNumber }
        const early = mayCloseEarly(limits, { ...at, partBytes: MIN_PART_BYTES })
        offsetBytes += early ? MIN_PART_BYTES : nextPartBytes(limits, at)
      }
      expect(offsetBytes).toBeGreaterThan(0.4 * largestUpload(limits))
    },
  )

  it.each([aws, scaleway])(
    'with a deferred length, uses growing parts, and reaches over half of the largest size',
    (limits) => {
      expect(partsOf(limits, largestUpload(limits) * 0.55, false)).toBeLessThanOrEqual(limits.maxParts)
      expect(partsOf(limits, 100 * MiB, false)).toBe(13)
    },
  )

  it('takes at most an eighth of the memory, and at least 8 MiB', () => {
    expect(largestPartBytes(256 * MiB)).toBe(32 * MiB)
    expect(largestPartBytes(16 * MiB)).toBe(8 * MiB)
    expect([aws.maxPartBytes, r2.maxPartBytes]).toEqual([512 * MiB, 64 * MiB])
  })

  it('does not change if up to four processes share the memory', () => {
    for (const memoryBytes of [256 * MiB, GiB, 64 * GiB])
      for (const processes of [2, 3, 4])
        expect(largestPartBytes(memoryBytes, memoryBytes / processes)).toBe(largestPartBytes(memoryBytes))
    expect(largestPartBytes(GiB, GiB / 8)).toBe(64 * MiB)
    expect(largestPartBytes(8 * GiB, GiB)).toBe(512 * MiB)
  })

  it('uses one size, large enough for the length, if all parts must be equal', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: largestUpload(r2) }), (lengthBytes) => {
        const size = equalPartBytes(r2, lengthBytes)
        expect(size).toBeLessThanOrEqual(r2.maxPartBytes)
        expect(Math.ceil(lengthBytes / size)).toBeLessThanOrEqual(r2.maxParts)
      }),
    )
    expect(equalPartBytes(r2, null)).toBe(64 * MiB)
  })

  it('never runs out of numbers, wherever interruptions close parts early and crashes use up numbers', () => {
    const interruption = fc.record({
      cutBytes: fc.integer({ min: 1, max: 8 * MiB }),
      burnt: fc.integer({ min: 0, max: 4 }),
    })
    fc.assert(
      fc.property(
        fc.array(interruption, { maxLength: 60 }),
        fc.double({ min: 0.1, max: 0.9, noNaN: true }),
        (cuts, share) => {
          const limits = { ...scaleway, maxPartBytes: 16 * MiB }
          const lengthBytes = Math.floor(largestUpload(limits) * share)
          let offsetBytes = 0
          let nextNumber = 1
          for (const { cutBytes, burnt } of cuts) {
            const at = { lengthBytes, offsetBytes, nextNumber, partBytes: cutBytes }
            nextNumber += burnt
            if (!mayCloseEarly(limits, at)) continue
            expect(cutBytes).toBeGreaterThanOrEqual(MIN_PART_BYTES)
            offsetBytes += cutBytes
            nextNumber += 1
          }
          while (offsetBytes < lengthBytes) {
            offsetBytes += nextPartBytes(limits, { lengthBytes, offsetBytes, nextNumber })
            nextNumber += 1
          }
          expect(nextNumber - 1).toBeLessThanOrEqual(limits.maxParts)
        },
      ),
    )
  })

  it('closes no part early if all parts must be equal, or if it is below the S3 minimum', () => {
    const at = { lengthBytes: GiB, offsetBytes: 0, nextNumber: 1, partBytes: 6 * MiB }
    expect(mayCloseEarly(aws, at)).toBe(true)
    expect(mayCloseEarly(r2, at)).toBe(false)
    expect(mayCloseEarly(aws, { ...at, partBytes: MIN_PART_BYTES - 1 })).toBe(false)
    expect(mayCloseEarly(aws, { ...at, lengthBytes: null, nextNumber: 6000 })).toBe(false)
  })
})
