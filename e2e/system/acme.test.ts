import { readFileSync } from 'node:fs'
import { connect, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acmeAccounts, linkHosts } from '#drizzle/schema/index.ts'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import { readLinkHost, saveLinkHost } from '#lib/upload-links/link-host.ts'
import { CERTIFICATE } from '../../test/support/certificates.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { openNameServer } from '../../test/support/name-server.ts'
import { hasPebble, startPebble } from '../../test/support/pebble.ts'
import { freePort } from '../../test/support/postgres.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { createTestWorkspace, type TestWorkspace } from '../../test/support/workspace.ts'

/**
 * Two nodes with the built-in HTTPS get certificates from Pebble. The authority reaches only the node that does not order
 * them.
 */
const [ORDERS, ANSWERS] = ['127.0.0.1', '127.0.0.2']
const HOST = 'files.customer.example'
const trusted = getCACertificates('default')
const folder = temporaryFolder()
let database: Awaited<ReturnType<typeof openTestDatabase>>
let names: Awaited<ReturnType<typeof openNameServer>>
let pebble: Awaited<ReturnType<typeof startPebble>>
let root: string
let port: number
let runtime: TestRuntime
let mine: TestWorkspace
const nodes: Sluice[] = []

const isMissing = !hasPebble()
if (isMissing) console.warn('skipped, not installed: pebble')

describe.skipIf(isMissing)('certificates from Pebble', () => {
  beforeAll(async () => {
    setDefaultCACertificates([...trusted, readFileSync(CERTIFICATE.cert, 'utf8')])
    ;[database, names, port] = await Promise.all([openTestDatabase(), openNameServer(), freePort()])
    pebble = await startPebble({ names: names.address, tlsPort: port })
    root = await pebble.root()
    const settings = {
      BASE_URL: `https://localhost:${port}`,
      TLS_CERT_FILE: CERTIFICATE.cert,
      TLS_KEY_FILE: CERTIFICATE.key,
      ACME_DIRECTORY: pebble.directory,
    }
    runtime = { ...testRuntime(database, settings), clock: { ...systemClock, advance() {} } }
    mine = await createTestWorkspace(runtime)
    await saveLinkHost(runtime, mine.actor, { host: HOST })
    await verify()
    names.zone.set(HOST, { A: [ANSWERS] })
    const start = (own: Record<string, string>) =>
      startSluice({
        ...settings,
        ...own,
        PORT: String(port),
        DATA_DIR: folder.path,
        DATABASE_URL: database.url,
        ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
        AUTH_SECRET: 'a secret of thirty-two characters',
        NODE_EXTRA_CA_CERTS: CERTIFICATE.cert,
        LOG_LEVEL: 'warn',
      })
    nodes.push(await start({ HOST: ANSWERS, ROLES: 'upload' }))
    nodes.push(await start({ HOST: ORDERS, ROLES: 'upload,worker', PROCESSES: '2' }))
  })
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    await pebble?.stop()
    names?.close()
    await database?.close()
    setDefaultCACertificates(trusted)
    folder[Symbol.dispose]()
  })

  const ofMine = () => eq(linkHosts.workspaceId, mine.workspaceId)
  const verify = () => runtime.db.update(linkHosts).set({ verifiedAt: new Date() }).where(ofMine())

  /** Of the certificate that a client gets, if Pebble issued it, or else its subject. */
  async function serial(host: string, servername: string): Promise<string> {
    const socket = connect({ host, port, servername, ca: [root], rejectUnauthorized: false })
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
    const { serialNumber, subject } = socket.getPeerCertificate()
    const { authorized } = socket
    socket.destroy()
    return authorized ? serialNumber : String(subject.CN)
  }
  const served = (name = HOST) => Promise.all([ORDERS, ANSWERS].map((node) => serial(node, name)))
  const isServed = async () => {
    const [one, other] = await served()
    return one === other && one !== 'localhost' ? one : undefined
  }

  it('are issued for a verified host, and served by every node, for that host alone', async () => {
    await expect.poll(isServed, { timeout: 60_000 }).toMatch(/^[0-9A-F]{12,}$/)
    expect(await served('localhost')).toEqual(['localhost', 'localhost'])
    expect(await served('other.customer.example')).toEqual(['localhost', 'localhost'])
    const { certificate } = await readLinkHost(runtime, mine.workspaceId)
    expect(certificate).toEqual({ validUntil: expect.stringMatching(/^\d{4}-/), fault: null })
    const [row] = await runtime.db.select().from(linkHosts).where(ofMine())
    expect([row!.challenge, row!.certificateKey]).toEqual([null, expect.stringMatching(/^v2\./)])
    const days = (row!.certificateDueAt!.getTime() - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(60)
    const printed = nodes.map((node) => node.output()).join('')
    expect(printed).not.toContain('PRIVATE')
  })

  it('are renewed on every node, and no longer served once the host is removed', {
    tags: 'long',
  }, async () => {
    const before = await isServed()
    const due = new Date(0)
    await runtime.db.update(linkHosts).set({ certificateDueAt: due })
    await runtime.db.update(acmeAccounts).set({ freeAt: due })
    const renewed = async () => {
      const now = await isServed()
      return now !== undefined && now !== before
    }
    await expect.poll(renewed, { timeout: 60_000 }).toBe(true)
    await saveLinkHost(runtime, mine.actor, { host: null })
    await expect.poll(() => served()).toEqual(['localhost', 'localhost'])
  })

  it('are missing for a host that does not lead here, and its workspace is told why', {
    tags: 'long',
  }, async () => {
    names.zone.set('astray.customer.example', { A: ['127.0.0.3'] })
    await saveLinkHost(runtime, mine.actor, { host: 'astray.customer.example' })
    await verify()
    await runtime.db.update(acmeAccounts).set({ freeAt: new Date(0) })
    const fault = async () => (await readLinkHost(runtime, mine.workspaceId)).certificate!.fault
    await expect
      .poll(fault, { timeout: 60_000 })
      .toMatch(
        /^The address of astray.customer.example does not lead to this server on port 443\. .*127\.0\.0\.3/,
      )
  })
})
