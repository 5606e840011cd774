import { expect, it } from 'vitest'
import { minutes } from '../../platform/kernel/clock.ts'
import { type File, isWaiting } from './file.ts'

const now = Date.parse('2026-11-22T12:00:00Z')
const ago = (ms: number) => new Date(now - ms).toISOString()
const file = (fields: Partial<File>) =>
  ({ status: 'uploading', createdAt: ago(minutes(60)), lastByteAt: null, ...fields }) as File

it.each([
  ['a byte a minute ago', { lastByteAt: ago(minutes(1)) }, false],
  ['no bytes for six minutes', { lastByteAt: ago(minutes(6)) }, true],
  ['no bytes for an hour', {}, true],
  ['no bytes for a minute', { createdAt: ago(minutes(1)) }, false],
  ['an end', { status: 'expired', lastByteAt: ago(minutes(6)) }, false],
] as const)('for an upload with %s, isWaiting returns %s', (_, fields, waits) => {
  expect(isWaiting(file(fields), now)).toBe(waits)
})
