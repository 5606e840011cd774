import { Agent, type ClientRequest, request } from 'node:http'
import { create, MiB } from '../load.ts'
import type { Crowd } from './slow-clients.ts'

/** Each client sends ten times a second, and the clients take turns within each tenth of a second. */
const TURNS = 10
const UPLOAD_BYTES = 100 * MiB

const { target, clients, bytesPerSecond }: Crowd = JSON.parse(process.argv[2]!)
const agent = new Agent({ keepAlive: false, maxSockets: clients })
const piece = Buffer.alloc(bytesPerSecond / 10, 3)
const open: ClientRequest[] = []
for (let n = 0; n < clients; n++) {
  const url = new URL(await create(target, UPLOAD_BYTES))
  const sent = request({
    host: url.hostname,
    port: url.port,
    path: url.pathname,
    method: 'PATCH',
    agent,
    headers: {
      ...target.headers,
      'Tus-Resumable': '1.0.0',
      'Content-Type': 'application/offset+octet-stream',
      'Content-Length': String(UPLOAD_BYTES),
      'Upload-Offset': '0',
    },
  })
  sent.on('error', () => {})
  sent.flushHeaders()
  open.push(sent)
}
let turn = 0
setInterval(() => {
  for (let n = turn; n < open.length; n += TURNS) open[n]!.write(piece)
  turn = (turn + 1) % TURNS
}, 100 / TURNS)
process.send!('open')
