import { expect, it } from 'vitest'
import { createSluice } from './client.ts'
import * as operations from './generated/sdk.ts'

/** These need no key. */
const PUBLIC = ['openApi', 'openUploadLink', 'sendReceipt']
const asked: Request[] = []
const sluice = createSluice({
  baseUrl: 'https://uploads.example.com',
  accountKey: 'ak_1',
  senderToken: 'sk_1',
  maxRetries: 0,
  fetch: async (input, init) => {
    asked.push(new Request(input, init))
    return Response.json({ data: [], nextCursor: null })
  },
})

it.each(Object.keys(operations).filter((name) => name !== 'streamEvents'))(
  '%s is sent to the server that the client was created for, with its key',
  async (name) => {
    asked.length = 0
    const call = sluice[name as keyof typeof sluice] as (fields: object) => Promise<unknown>
    await call({ id: 'one', holder: 'one', pipeId: 'pipe_1', name: 'One' })
    expect(asked[0]!.url).toMatch(/^https:\/\/uploads\.example\.com\/api\/v1\//)
    if (!PUBLIC.includes(name)) expect(asked[0]!.headers.get('authorization')).toMatch(/^Bearer (ak|sk)_1$/)
  },
)
