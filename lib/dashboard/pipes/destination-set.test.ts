import { expect, it } from 'vitest'
import { partLimits } from '../../uploads/rules/part-plan.ts'
import { limiting, requestsFor } from './destination-set.ts'

const MiB = 1024 * 1024
const aws = { maxParts: 10_000, equalParts: false }
const scaleway = { maxParts: 1000, equalParts: false }
const r2 = { maxParts: 10_000, equalParts: true }

it.each([
  ['a single one', [scaleway], []],
  ['two with equal limits', [aws, aws], []],
  ['the fewest parts', [aws, scaleway, aws], [1]],
  ['equal parts', [aws, r2], [1]],
  ['two with different rules', [scaleway, r2, aws], [0, 1]],
  ['two with the same rule', [aws, scaleway, scaleway], [1, 2]],
])('names the Data Stores that limit the largest file: %s', (_, all, expected) => {
  expect(limiting(all, 512 * MiB)).toEqual(expected)
})

it.each([
  [0, 1],
  [8 * MiB, 1],
  [8 * MiB + 1, 4],
  [64 * MiB, 10],
])('counts the requests that %i bytes take', (bytes, requests) => {
  expect(requestsFor(partLimits(aws, 512 * MiB), bytes)).toBe(requests)
  expect(requestsFor(partLimits(r2, 512 * MiB), bytes)).toBe(requests)
})
