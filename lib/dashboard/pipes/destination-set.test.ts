import { expect, it } from 'vitest'
import { partLimits } from '../../uploads/rules/part-plan.ts'
import { limiting, requestsFor } from './destination-set.ts'

const MiB = 1024 * 1024
const aws = { maxParts: 10_000, equalParts: false }
const scaleway = { maxParts: 1000, equalParts: false }
const r2 = { maxParts: 10_000, equalParts: true }

it.each([
  ['one alone', [scaleway], []],
  ['two alike', [aws, aws], []],
  ['the fewest parts', [aws, scaleway, aws], [1]],
  ['equal parts', [aws, r2], [1]],
  ['each of two by its own rule', [scaleway, r2, aws], [0, 1]],
  ['two that share a rule', [aws, scaleway, scaleway], [1, 2]],
])('names the Data Stores that limit the largest file: %s', (_, all, expected) => {
  expect(limiting(all, 512 * MiB)).toEqual(expected)
})

it.each([
  [0, 1],
  [8 * MiB, 1],
  [8 * MiB + 1, 4],
  [64 * MiB, 10],
])('counts the requests for %i bytes', (bytes, requests) => {
  expect(requestsFor(partLimits(aws, 512 * MiB), bytes)).toBe(requests)
  expect(requestsFor(partLimits(r2, 512 * MiB), bytes)).toBe(requests)
})
