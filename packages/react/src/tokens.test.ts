import { expect, it } from 'vitest'
import { passes } from './failure.ts'
import { askBackend } from './tokens.ts'

it('ends where a page comes in place of a token, as when somebody is signed out, and does not wait for the network', async () => {
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
