import { Agent, type ClientRequest, request } from 'node:http'
import { create, MiB, type Target } from './load.ts'

/** Clients that each send a little, ten times a second, for as long as they are let. */
export async function trickle(
  target: Target,
  { clients, bytesPerSecond }: { clients: number; bytesPerSecond: number },
): Promise<{ stop(): Promise<void> }> {
  const agent = new Agent({ keepAlive: false, maxSockets: clients })
  const piece = Buffer.alloc(bytesPerSecond / 10, 3)
  const open: ClientRequest[] = []
  for (let n = 0; n < clients; n++) {
    const url = new URL(await create(target, 100 * MiB))
    const sent = request({
      ...{ host: url.hostname, port: url.port, path: url.pathname, method: 'PATCH', agent },
      headers: {
        ...target.headers,
        'Tus-Resumable': '1.0.0',
        'Content-Type': 'application/offset+octet-stream',
        'Content-Length': String(100 * MiB),
        'Upload-Offset': '0',
      },
    })
    sent.on('error', () => {})
    sent.flushHeaders()
    open.push(sent)
  }
  const timer = setInterval(() => {
    for (const sent of open) sent.write(piece)
  }, 100)
  return {
    async stop() {
      clearInterval(timer)
      for (const sent of open) sent.destroy()
    },
  }
}
