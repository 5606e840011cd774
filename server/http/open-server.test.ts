import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { type AddressInfo, connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLogger } from '../../lib/platform/log/log.ts'
import { CERTIFICATE, RENEWED_CERTIFICATE } from '../../test/support/certificates.ts'
import { openServer, refuseConnections } from './open-server.ts'

const lines: string[] = []
const log = createLogger('info', { write: (line) => void lines.push(line) })
let folder: string
let server: Server | undefined
const tls = () => ({ certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') })
beforeEach(() => {
  lines.length = 0
  folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'))
  put(CERTIFICATE)
})
afterEach(() => {
  server?.close()
  server?.closeAllConnections()
  rmSync(folder, { recursive: true })
})

function put({ cert, key }: { cert?: string; key?: string }): void {
  if (cert) cpSync(cert, tls().certFile)
  if (key) cpSync(key, tls().keyFile)
}

async function open(): Promise<void> {
  server = openServer((_, res) => void res.end('here'), { tls: tls(), log, checkEveryMs: 20 })
  await once(server.listen(0, '127.0.0.1'), 'listening')
}

async function shakeHands(session?: Buffer): Promise<TLSSocket> {
  const { port } = server!.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, session })
  await once(socket, 'secureConnect')
  return socket
}

async function subject(): Promise<string> {
  const socket = await shakeHands()
  const { CN } = socket.getPeerCertificate().subject
  socket.destroy()
  return String(CN)
}

it('loads a renewed certificate only once both of its files have been written', async () => {
  await open()
  expect(await subject()).toBe('localhost')
  put({ cert: RENEWED_CERTIFICATE.cert })
  await vi.waitFor(() => expect(lines.join()).toContain('kept the certificate in use'), 5000)
  expect(await subject()).toBe('localhost')
  put({ key: RENEWED_CERTIFICATE.key })
  await vi.waitFor(async () => expect(await subject()).toBe('renewed'), 5000)
  expect(lines.join()).not.toContain('PRIVATE')
})

it('resumes sessions that started before a renewal', async () => {
  await open()
  const first = (await shakeHands()).resume()
  const [session] = (await once(first, 'session')) as [Buffer]
  put(RENEWED_CERTIFICATE)
  await vi.waitFor(async () => expect(await subject()).toBe('renewed'), 5000)
  const second = await shakeHands(session)
  expect(second.isSessionReused()).toBe(true)
  for (const socket of [first, second]) socket.destroy()
})

it('reports what is wrong with the files, without revealing anything about a key', () => {
  const opening = () => openServer(() => {}, { tls: tls(), log })
  put({ key: RENEWED_CERTIFICATE.key })
  expect(opening).toThrow(/TLS_CERT_FILE \(.*tls.crt\) and TLS_KEY_FILE \(.*tls.key\) must be .*mismatch/)
  writeFileSync(tls().keyFile, 'no key')
  expect(opening).toThrow(/must be a certificate and its key in PEM/)
  rmSync(tls().keyFile)
  expect(opening).toThrow(/TLS_KEY_FILE cannot be read: ENOENT/)
})

it.each(['before', 'after'])(
  'stops without waiting for a client that is still sending slowly, if it was refused %s the stop',
  async (order) => {
    let refuse = () => {}
    server = openServer(
      (_, res) => {
        refuse = () => void res.writeHead(413, { 'Content-Length': 2 }).end('no')
        if (order === 'before') refuse()
      },
      { tls: undefined, log },
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const client = connectPlain((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n1')
    if (order === 'before') await once(client, 'data')
    else await once(server, 'request')
    const dripping = setInterval(() => client.write('2'), 5)
    const stopped = refuseConnections(server, { lateMs: 50 })
    if (order === 'after') {
      const answer = once(client, 'data')
      refuse()
      expect(String(await answer)).toMatch(/^HTTP\/1.1 413 /)
    }
    await stopped
    clearInterval(dripping)
  },
)
