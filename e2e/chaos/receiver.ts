import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifyWebhook } from '#lib/webhooks/signature/signature.ts'
import type { Random } from '../../test/support/random.ts'

export type Received = { id: string; body: string; attempts: number; accepted: boolean }

/** A customer's backend that fails occasionally, but accepts each event by the third attempt. */
export async function startReceiver(random: Random) {
  const events = new Map<string, Received>()
  const faults: string[] = []
  let secrets: string[] = []
  let patience = false
  const server = createServer(async (req, res) => {
    const body = await textOf(req).catch(() => undefined)
    if (body === undefined) return
    const headers = req.headers as Record<string, string>
    const verdict = verifyWebhook({ headers, body }, secrets, Date.now())
    if (verdict.service !== 'valid' || verdict.standard !== 'valid')
      faults.push(`the signatures of a webhook are ${verdict.service} and ${verdict.standard}`)
    const id = headers['webhook-id']!
    const event = events.get(id) ?? { id, body, attempts: 0, accepted: false }
    events.set(id, event)
    if (event.body !== body) faults.push(`event ${id} was sent with two different bodies`)
    event.attempts += 1
    if (event.attempts < 3 && !patience && random.chance(event.attempts === 1 ? 0.15 : 0.05)) {
      if (random.chance(0.5)) return void res.destroy()
      return void res.writeHead(500).end()
    }
    event.accepted = true
    res.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    events,
    faults,
    verifyWith(keys: string[]) {
      secrets = keys
    },
    /** Stops the failures: every event is accepted. */
    calm() {
      patience = true
    },
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

async function textOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
