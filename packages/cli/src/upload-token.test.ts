import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { afterEach, expect, it, vi } from 'vitest'
import { tokensFor } from './upload-token.ts'

const HOUR_MS = 3_600_000

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

it('requests one token for files that all find the last one about to expire', async () => {
  let issued = 0
  const server = createServer((_, res) => {
    issued += 1
    const expiresAt = new Date(Date.now() + HOUR_MS).toISOString()
    const token = { token: `tmp_${issued}`, uploadUrl: 'http://127.0.0.1/files/', expiresAt }
    res.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify(token))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  vi.stubEnv('SLUICE_CONFIG_DIR', tmpdir())
  vi.stubEnv('SLUICE_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  vi.stubEnv('SLUICE_SENDER_TOKEN', 'sk_x')
  vi.useFakeTimers({ toFake: ['Date'] })
  const tokens = tokensFor('pipe_a')
  await tokens.take()
  vi.setSystemTime(Date.now() + HOUR_MS)
  const taken = await Promise.all([tokens.take(), tokens.take(), tokens.take()])
  expect(taken.map(({ token }) => token)).toEqual(['tmp_2', 'tmp_2', 'tmp_2'])
  expect(issued).toBe(2)
  server.close().closeAllConnections()
})
