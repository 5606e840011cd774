import { expect, it } from 'vitest'
import { systemClock } from '../../platform/kernel/clock.ts'
import { authorizeTemporarily, rejectsSession } from './authorize-temporarily.ts'

const request = { method: 'PUT', path: '/', query: {}, headers: {}, body: [], signBody: false }

it.each([
  [400, 'ExpiredToken', 'second'],
  [403, 'InvalidAccessKeyId', 'second'],
  [403, 'AccessDenied', 'first'],
])('after %i %s, uses the %s session', async (status, code, next) => {
  const sessions = ['first', 'second']
  const obtain = async () => {
    const session = sessions.shift()!
    return { value: () => ({ session }), lifetimeMs: 3_600_000 }
  }
  const { authorize, replace } = authorizeTemporarily(obtain, rejectsSession, systemClock)
  const body = Buffer.from(`<Error><Code>${code}</Code></Error>`)
  expect(replace!(await authorize(request), { status, headers: {}, body })).toBe(next === 'second')
  expect(await authorize(request)).toEqual({ session: next })
})
