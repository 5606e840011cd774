import { afterEach, expect, it, vi } from 'vitest'
import { signWebhook } from '../../../lib/webhooks/signature/signature.ts'
import { createDecisionHandler, type DecisionHandlerOptions } from './decision-handler.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const questionOf = (hook: string) => ({ id: `${hook}-1`, hook, data: { filename: 'a.txt' } })

async function ask(options: DecisionHandlerOptions, hook = 'before_complete', signedWith = secret) {
  const body = JSON.stringify(questionOf(hook))
  const headers = { ...signWebhook([signedWith], { id: `${hook}-1`, body, atMs: Date.now() }) }
  const errors: unknown[] = []
  const handle = createDecisionHandler({ secret, onError: (error) => void errors.push(error), ...options })
  const response = await handle(new Request('https://example.com/decide', { method: 'POST', headers, body }))
  return { status: response.status, body: await response.json(), errors }
}
afterEach(() => vi.unstubAllEnvs())

it('returns the decision for each request', async () => {
  const beforeCreate = vi.fn(() => ({ allow: true, filename: 'b.txt' }))
  const beforeComplete = vi.fn(async () => ({ defer: true as const }))
  expect(await ask({ beforeCreate, beforeComplete }, 'before_create')).toMatchObject({
    status: 200,
    body: { allow: true, filename: 'b.txt' },
  })
  expect(await ask({ beforeCreate, beforeComplete })).toMatchObject({ status: 200, body: { defer: true } })
  const question = questionOf('before_complete')
  expect(beforeComplete.mock.calls).toEqual([[question.data, question]])
  expect(beforeCreate).toHaveBeenCalledOnce()
})

it('accepts any of several secrets, and the one in the environment', async () => {
  const beforeComplete = () => ({ allow: true })
  expect(await ask({ beforeComplete, secret: [secret, other] }, undefined, other)).toMatchObject({
    status: 200,
  })
  vi.stubEnv('SLUICE_HOOK_SECRET', other)
  const ofEnvironment = { beforeComplete, secret: undefined } as unknown as DecisionHandlerOptions
  expect(await ask(ofEnvironment, undefined, other)).toMatchObject({ status: 200 })
})

it('rejects requests that Sluice has not signed', async () => {
  const beforeComplete = vi.fn(() => ({ allow: true }))
  expect(await ask({ beforeComplete }, undefined, other)).toMatchObject({
    status: 401,
    body: { code: 'unsigned' },
    errors: [{ reason: 'mismatch' }],
  })
  expect(beforeComplete).not.toHaveBeenCalled()
})

it('returns no decision for a hook that it does not handle, or if the decision throws', async () => {
  const beforeComplete = () => {
    throw new Error('The scanner is down.')
  }
  expect(await ask({ beforeComplete })).toMatchObject({
    status: 500,
    body: { code: 'internal' },
    errors: [new Error('The scanner is down.')],
  })
  expect(await ask({ beforeComplete }, 'before_create')).toMatchObject({ status: 404, errors: [] })
})

it('accepts only POST', async () => {
  const response = await createDecisionHandler({ secret })(new Request('https://example.com/decide'))
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
})
