import { expect, it } from 'vitest'
import { SluiceError } from '../kernel/errors.ts'
import { toProblem } from './problem.ts'

it('returns an intentional error as it is', () => {
  const { status, headers, body } = toProblem(
    new SluiceError('token_missing', 'Send a token.'),
    'https://sluice.test',
  )
  expect(status).toBe(401)
  expect(headers['WWW-Authenticate']).toBe('Bearer')
  expect(JSON.parse(body)).toMatchObject({
    type: 'https://sluice.test/docs/problems/token_missing',
    code: 'token_missing',
    detail: 'Send a token.',
    status: 401,
  })
})

it('reveals nothing about an unexpected error', () => {
  const { status, body } = toProblem(new Error('select secret from users'), undefined)
  expect(status).toBe(500)
  expect(body).not.toContain('select')
})

it.each(['CONNECTION_CLOSED', 'ENOTFOUND'])('treats an unresponsive database as temporary: %s', (code) => {
  const cause = Object.assign(new Error(`write ${code}`), { code })
  const { status, headers, body } = toProblem(new Error('Failed query', { cause }), undefined)
  expect(status).toBe(503)
  expect(headers['Retry-After']).toBe('2')
  expect(body).not.toContain(code)
})

it.each(['ENOSPC', '53100'])('treats a full disk as temporary: %s', (code) => {
  const cause = Object.assign(new Error('could not extend file "base/5/16384"'), { code })
  const { status, headers, body } = toProblem(new Error('Failed query', { cause }), undefined)
  expect(status).toBe(503)
  expect(headers['Retry-After']).toBe('30')
  expect(body).not.toContain('base/5')
})

it('asks for less if a statement took too long', () => {
  const cause = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
  const { status, body } = toProblem(new Error('Failed query', { cause }), undefined)
  expect(status).toBe(503)
  expect(JSON.parse(body).detail).toContain('Ask for less')
})
