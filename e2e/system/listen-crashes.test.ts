/** @module-tag long */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { createSluice } from '../../packages/node/src/client.ts'
import { buildKitIfNeeded } from '../../scripts/kit.ts'
import { freePort } from '../../test/support/postgres.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { readDemo } from '../../test/support/target.ts'
import { OCTETS, tusWith } from '../../test/support/tus.ts'
import { endWithThisProcess } from '../../test/support/until-exit.ts'

/** Runs `sluice listen` while it and the server are killed in turn. Set `ROUNDS=2` or more for a longer run. */
const ROUNDS = Number(process.env.ROUNDS ?? 1)

/** The user's program, which records the files whose events it receives. */
async function openProgram() {
  const heard = new Set<string>()
  const server = createServer((req, res) => {
    let body = ''
    req.on('data', (chunk) => (body += chunk))
    req.on('end', () => {
      heard.add(JSON.parse(body).data.file_id)
      res.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { heard, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

it('misses no event while the relay and the server are killed in turn', async () => {
  buildKitIfNeeded()
  using folder = temporaryFolder()
  using home = temporaryFolder()
  const port = String(await freePort())
  const startServer = () => startSluice({ DATA_DIR: folder.path, PORT: port, LOG_LEVEL: 'warn' })
  let server = await startServer()
  const { baseUrl, accountKey, senderToken, pipeId } = readDemo(folder.path)
  const sluice = createSluice({ baseUrl, accountKey, senderToken })
  const program = await openProgram()
  const startRelay = async () => {
    const args = [
      resolve('packages/cli/dist/sluice.js'),
      'listen',
      '--forward-to',
      program.url,
      '--pipe',
      pipeId,
    ]
    const settings = {
      SLUICE_URL: baseUrl,
      SLUICE_ACCOUNT_KEY: accountKey,
      SLUICE_CONFIG_DIR: join(home.path, 'kept'),
    }
    const env = { PATH: process.env.PATH, HOME: home.path, NODE_ENV: 'production' as const, ...settings }
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    endWithThisProcess(child)
    for await (const text of child.stderr.iterator({ destroyOnReturn: false }))
      if (String(text).includes('Listening')) break
    child.stderr.resume()
    return child
  }
  const sent = new Set<string>()
  const sendFile = async () => {
    const { token, uploadUrl } = await sluice.issueToken({ pipeId })
    const fields = { 'Upload-Length': 1, 'Content-Type': OCTETS }
    const { headers } = await tusWith(token, uploadUrl).post(fields, 'x')
    sent.add(headers.location!.split('/').at(-1)!)
  }
  const missesNothing = () => expect.poll(() => [...sent].filter((id) => !program.heard.has(id))).toEqual([])

  let relay = await startRelay()
  for (let round = 0; round < ROUNDS; round++) {
    await sendFile()
    relay.kill('SIGKILL')
    await sendFile()
    relay = await startRelay()
    // Checks this before the server is killed: after its restart, the server resends the events of the last seconds,
    // which would hide a missed one.
    await missesNothing()
    await sendFile()
    await server.kill()
    server = await startServer()
    await sendFile()
  }
  await missesNothing()
  expect(sent.size).toBe(4 * ROUNDS)
  relay.kill('SIGKILL')
  program.server.close()
  await server.stop()
})
