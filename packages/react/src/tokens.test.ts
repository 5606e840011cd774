import { expect, it } from 'vitest'
import { passes } from './failure.ts'
import { askBackend, createTokens } from './tokens.ts'

it('fails permanently if the backend returns a page instead of a token, as it does when signed out', async () => {
  const answers = ['<!doctype html><title>Sign in</title>', '{}', 'null']
  for (const answer of answers) {
    const asking = askBackend('/api/upload-token', async () => new Response(answer))
    const error = await asking.catch((thrown) => thrown)
    expect([error.message, passes(error.status)]).toEqual([
      expect.stringContaining('responded without a token'),
      false,
    ])
  }
})

it('discards its token, and one being requested, when the permitted uploads change', async () => {
  const asked: ((token: string) => void)[] = []
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const ask = async () => {
    const token = await new Promise<string>((resolve) => asked.push(resolve))
    return { token, expiresAt, uploadUrl: 'https://sluice.example/pipes/p/files/' }
  }
  const tokens = createTokens(ask)
  const early = tokens.take()
  tokens.forget()
  const late = tokens.take()
  asked[1]!('late')
  expect((await late).token).toBe('late')
  asked[0]!('early')
  expect((await early).token).toBe('early')
  expect((await tokens.take()).token).toBe('late')
  expect(asked).toHaveLength(2)
})
