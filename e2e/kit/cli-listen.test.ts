import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unwrap } from '../../packages/node/src/webhooks.ts'
import { home, installCli, pipeId, removeCli, run, sendFile, sluice, start } from './installed-cli.ts'

/** Runs `sluice listen`, and the commands that help to develop a webhook receiver. */
beforeAll(installCli)
afterAll(removeCli)

describe('listen', () => {
  /** Opens a user's program, whose port stays the same when it is restarted. */
  async function openProgram() {
    const got: { id: string; body: string; headers: Record<string, string> }[] = []
    let port = 0
    const open = async () => {
      const server = createServer((req, res) => {
        let body = ''
        req.on('data', (chunk) => (body += chunk))
        req.on('end', () => {
          got.push({
            id: JSON.parse(body).data.file_id,
            body,
            headers: req.headers as Record<string, string>,
          })
          res.writeHead(204, { Connection: 'close' }).end()
        })
      }).listen(port, '127.0.0.1')
      await once(server, 'listening')
      port = (server.address() as AddressInfo).port
      return async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    }
    return { got, open, url: () => `http://127.0.0.1:${port}/hook` }
  }

  it('misses no event when it or the program behind it is killed, and signs like Sluice', async () => {
    const before = (await sluice.listDeliveries({ pipeId })).data.length
    const program = await openProgram()
    const close = await program.open()
    const args = ['listen', '--forward-to', program.url(), '--pipe', pipeId]
    const early = start(args)
    await expect.poll(early.said).toContain('Listening')
    await early.kill()
    const sent = [await sendFile()]
    const first = start(args)
    const arrived = () => program.got.map(({ id }) => id)
    await expect.poll(arrived).toEqual(sent)
    await close()
    sent.push(await sendFile())
    await expect.poll(first.said).toContain('cannot be reached')
    const closeAgain = await program.open()
    await expect.poll(arrived).toEqual(sent)
    await expect.poll(() => first.said().match(/^204 /gm)?.length).toBe(2)
    await first.kill()
    sent.push(await sendFile(), await sendFile())
    const second = start(args)
    await expect.poll(() => new Set(arrived())).toEqual(new Set(sent))
    await second.kill()
    const secret = first.said().match(/whsec_\S+(?=,)/)![0]
    expect(second.said()).toContain(secret)
    for (const { body, headers } of program.got) {
      expect(await unwrap(body, headers, secret)).toEqual(JSON.parse(body))
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
    }
    expect((await sluice.listDeliveries({ pipeId })).data).toHaveLength(before)
    await closeAgain()
  })

  it('forwards the requested kinds of events, and names unknown kinds', { tags: 'long' }, async () => {
    const { id } = await sluice.createPipeOutput({
      id: pipeId,
      url: 'http://127.0.0.1:1/',
      events: ['file.created'],
    })
    const program = await openProgram()
    const close = await program.open()
    const args = ['listen', '--forward-to', program.url(), '--pipe', pipeId]
    const running = start([...args, '--events', 'file.created, file.status_changed', '--from-now', '--json'])
    await expect.poll(running.said).toContain('Listening')
    const sent = await sendFile()
    const kinds = () => program.got.map(({ body }) => JSON.parse(body).event)
    await expect.poll(kinds).toEqual(['file.created', 'file.status_changed'])
    expect(program.got.map(({ id }) => id)).toEqual([sent, sent])
    const printed = () =>
      running
        .said()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line))
    await expect.poll(() => printed().map(({ event }) => event)).toEqual(kinds())
    await running.kill()
    await close()
    const unknown = await run([...args, '--events', 'file.eaten'])
    expect(unknown.stderr).toContain('file.created')
    expect(unknown.code).not.toBe(0)
    await sluice.deleteOutput({ id })
  })

  it('sends a sample event, and explains an invalid signature', async () => {
    const program = await openProgram()
    const close = await program.open()
    expect((await run(['trigger', 'failed', '--forward-to', program.url()])).code).toBe(0)
    const [{ body, headers }] = program.got as [(typeof program.got)[0]]
    writeFileSync(join(home.path, 'headers.json'), JSON.stringify(headers))
    writeFileSync(join(home.path, 'body.json'), body)
    const files = ['--headers', join(home.path, 'headers.json'), '--body', join(home.path, 'body.json')]
    expect(JSON.parse((await run(['verify', ...files, '--json'])).stdout)).toMatchObject({ valid: true })
    writeFileSync(join(home.path, 'body.json'), `${body}\n`)
    const changed = await run(['verify', ...files, '--json'])
    expect([changed.code, JSON.parse(changed.stdout)]).toEqual([1, { valid: false, reason: 'mismatch' }])
    await close()
  })
})
