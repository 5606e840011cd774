import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'
import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { linkHosts } from '#drizzle/schema/index.ts'
import { certify, createKeyPair, toPem } from '../../lib/platform/acme/certificates.ts'
import { days, seconds } from '../../lib/platform/kernel/clock.ts'
import { createLogger } from '../../lib/platform/log/log.ts'
import { certificateKeyPlace } from '../../lib/upload-links/host-certificates.ts'
import { createHostFinder } from '../../lib/upload-links/link-host.ts'
import { CERTIFICATE } from '../../test/support/certificates.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { createTestWorkspace } from '../../test/support/workspace.ts'
import type { Opened } from './front-door.ts'
import { hostCertificates } from './host-certificates.ts'
import { openServer } from './open-server.ts'

const HOST = 'files.customer.example'
const CONFIGURED = 'DNS:localhost'
const tls = { certFile: CERTIFICATE.cert, keyFile: CERTIFICATE.key }

describeWithDatabase('a TLS handshake', (database) => {
  let runtime: TestRuntime
  let server: Server
  let counted: TestRuntime
  let statements: number
  let isAway: boolean
  let workspaceId: string

  beforeEach(async () => {
    runtime = testRuntime(database(), { BASE_URL: 'https://sluice.example.com' })
    await runtime.db.delete(linkHosts)
    workspaceId = (await createTestWorkspace(runtime)).workspaceId
    const verifiedAt = new Date(runtime.clock.now())
    await runtime.db.insert(linkHosts).values({ workspaceId, host: HOST, verifiedAt })
    ;[statements, isAway] = [0, false]
    const db = new Proxy(runtime.db, {
      get(target, name) {
        if (isAway) throw new Error('away')
        if (name === 'select') statements += 1
        return Reflect.get(target, name)
      },
    })
    counted = { ...runtime, db }
    await start({})
  })
  afterEach(() => void server.close())

  async function start({ opened = true, ...options }: { opened?: boolean; mostContexts?: number }) {
    const opening = Promise.withResolvers<Pick<Opened, 'runtime' | 'findLinkHost'>>()
    const choosing = hostCertificates(opening.promise, options)
    const log = createLogger('silent')
    server = openServer((_, res) => void res.end('here'), { tls, log, choosing })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    if (!opened) return
    opening.resolve({ runtime: counted, findLinkHost: createHostFinder(counted) })
    await opening.promise
  }
  async function restart(options: Parameters<typeof start>[0]) {
    server.close()
    await start(options)
  }

  async function change(row: Partial<typeof linkHosts.$inferInsert>) {
    await runtime.db.update(linkHosts).set(row).where(eq(linkHosts.workspaceId, workspaceId))
    runtime.clock.advance(seconds(5))
  }

  /** The certificate shows which of several it is by its second name. */
  const issue = (name: string) => {
    const { publicKey, privateKey } = createKeyPair()
    const from = runtime.clock.now()
    const certificate = certify({ host: name, key: publicKey, from, to: from + days(90) }, privateKey)
    const certificateKey = runtime.vault.seal(toPem(privateKey), certificateKeyPlace(workspaceId))
    return change({ certificate, certificateKey, certificateDueAt: new Date(runtime.clock.now()) })
  }

  async function shakeHands(servername: string, options: ConnectionOptions = {}) {
    const { port } = server.address() as AddressInfo
    const client = { port, host: '127.0.0.1', rejectUnauthorized: false, servername, ...options }
    const socket = connect(client)
    await once(socket, 'secureConnect')
    const certificate = socket.getPeerX509Certificate()!
    const { alpnProtocol } = socket
    socket.destroy()
    return { certificate, names: certificate.subjectAltName!.split(', ').at(-1), alpnProtocol }
  }
  const names = async (servername: string) => (await shakeHands(servername)).names

  it('gets the certificate of the host that it names, and the configured one for any other', async () => {
    expect(await names(HOST)).toBe(CONFIGURED)
    await issue('first.example')
    expect(await names(HOST)).toBe('DNS:first.example')
    expect(await names(HOST.toUpperCase())).toBe('DNS:first.example')
    expect(await names(`other-${HOST}`)).toBe(CONFIGURED)
    expect(await names('')).toBe(CONFIGURED)
    await issue('renewed.example')
    expect(await names(HOST)).toBe('DNS:renewed.example')
    await change({ verifiedAt: null })
    expect(await names(HOST)).toBe(CONFIGURED)
  })

  it('needs one statement for all hosts in 5 seconds, and one more for each certificate that it reads', async () => {
    await issue('first.example')
    for (let n = 0; n < 20; n++) expect(await names(`made-up-${n}.example`)).toBe(CONFIGURED)
    expect(statements).toBe(1)
    for (let n = 0; n < 20; n++) expect(await names(HOST)).toBe('DNS:first.example')
    expect(statements).toBe(2)
    runtime.clock.advance(seconds(5))
    expect(await names(HOST)).toBe('DNS:first.example')
    expect(statements).toBe(3)
  })

  it('has its certificate read again only if those of other hosts were used since', async () => {
    const other = await createTestWorkspace(runtime)
    const verifiedAt = new Date(runtime.clock.now())
    const row = { workspaceId: other.workspaceId, host: 'other.example', verifiedAt }
    await runtime.db.insert(linkHosts).values(row)
    await issue('first.example')
    await restart({ mostContexts: 1 })
    for (const [name, expected] of [
      [HOST, 2],
      [HOST, 2],
      ['other.example', 3],
      [HOST, 4],
      [HOST, 4],
    ] as const) {
      await names(name)
      expect(statements).toBe(expected)
    }
  })

  it('gets what it got before while the database is away', async () => {
    await issue('first.example')
    await names(HOST)
    isAway = true
    runtime.clock.advance(seconds(5))
    expect(await names(HOST)).toBe('DNS:first.example')
    expect(await names('other.example')).toBe(CONFIGURED)
  })

  it('gets the configured certificate until the server has started, or if the key cannot be opened', async () => {
    await issue('first.example')
    await change({ certificateKey: 'v2.other' })
    expect(await names(HOST)).toBe(CONFIGURED)
    expect(runtime.logLines.at(-1)).toContain('cannot use the certificate of a host')
    await restart({ opened: false })
    expect(await names(HOST)).toBe(CONFIGURED)
  })

  it('agrees on HTTP/1.1, as without these certificates', async () => {
    const agreed = async (...ALPNProtocols: string[]) =>
      (await shakeHands(HOST, { ALPNProtocols })).alpnProtocol
    expect(await agreed('h2', 'http/1.1')).toBe('http/1.1')
    expect(await agreed()).toBe(false)
    await expect(agreed('h2')).rejects.toThrow('no application protocol')
  })

  it('of an authority gets the answer to its challenge, which nobody else sees', async () => {
    await issue('first.example')
    const ALPNProtocols = ['acme-tls/1']
    const refused = 'disconnected'
    await expect(shakeHands(HOST, { ALPNProtocols })).rejects.toThrow(refused)
    await change({ challenge: '05'.repeat(32) })
    const { certificate, names: answered, alpnProtocol } = await shakeHands(HOST, { ALPNProtocols })
    expect([alpnProtocol, answered]).toEqual(['acme-tls/1', `DNS:${HOST}`])
    // RFC 8737, 3: the extension is critical, and contains the digest.
    const extension = `06082b0601050507011f0101ff04220420${'05'.repeat(32)}`
    expect(certificate.raw.toString('hex')).toContain(extension)
    expect(await names(HOST)).toBe('DNS:first.example')
    await expect(shakeHands('other.example', { ALPNProtocols })).rejects.toThrow(refused)
    await expect(shakeHands('', { ALPNProtocols })).rejects.toThrow('no application protocol')
  })
})
