import { expect, it } from 'vitest'
import { minutes } from '../../platform/kernel/clock.ts'
import { type File, shownStatus } from './file.ts'

const now = Date.parse('2026-11-22T12:00:00Z')
const ago = (ms: number) => new Date(now - ms).toISOString()
const file = (fields: object) =>
  ({ status: 'uploading', createdAt: ago(minutes(60)), lastByteAt: null, decision: null, ...fields }) as File

it.each([
  ['a byte a minute ago', { lastByteAt: ago(minutes(1)) }, 'uploading'],
  ['no bytes for six minutes', { lastByteAt: ago(minutes(6)) }, 'waiting'],
  ['no bytes for an hour', {}, 'waiting'],
  ['no bytes for a minute', { createdAt: ago(minutes(1)) }, 'uploading'],
  ['an end', { status: 'expired', lastByteAt: ago(minutes(6)) }, 'expired'],
  ['a deferred decision', { status: 'transferring', decision: { state: 'deferred' } }, 'awaiting_decision'],
  ['an unanswered hook', { status: 'transferring', decision: { state: 'asked' } }, 'awaiting_decision'],
  ['an allowed file', { status: 'transferring', decision: { state: 'allowed' } }, 'transferring'],
  ['a rejection', { status: 'failed', decision: { state: 'rejected' } }, 'rejected'],
])('an upload with %s has the status that users should see', (_, fields, status) => {
  expect(shownStatus(file(fields), now)).toBe(status)
})
