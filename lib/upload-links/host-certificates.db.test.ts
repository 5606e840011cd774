import { createPublicKey, X509Certificate } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'
import { acmeAccounts, linkHosts } from '#drizzle/schema/index.ts'
import { CERTIFICATE } from '../../test/support/certificates.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../test/support/workspace.ts'
import { certify, createKeyPair } from '../platform/acme/certificates.ts'
import { AcmeError, type Order, type orderCertificate } from '../platform/acme/order-certificate.ts'
import { days, hours, minutes, seconds } from '../platform/kernel/clock.ts'
import { orderDueCertificate, readHostCertificate, retryAfterFailures } from './host-certificates.ts'
import { checkLinkHost, originOfLinks, readLinkHost, saveLinkHost } from './link-host.ts'

const LIFETIME_MS = days(90)
/** How a public key on the curve P-256 begins in DER. */
const P256 = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex')
const settings = {
  BASE_URL: 'https://sluice.example.com',
  TLS_CERT_FILE: CERTIFICATE.cert,
  TLS_KEY_FILE: CERTIFICATE.key,
}
const of = (ACME_DIRECTORY: string) => ({ ...settings, ACME_DIRECTORY })

it('waits twice as long after each failure, but at most a day', () => {
  const waits = [0, 1, 2, 7, 8, 1000].map(retryAfterFailures)
  expect(waits).toEqual([minutes(10), minutes(20), minutes(40), minutes(1280), days(1), days(1)])
})

describeWithDatabase('the certificate of a host', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  let orders: Order[]
  let host: string
  let hosts = 0

  beforeEach(async () => {
    runtime = testRuntime(database(), of('https://ca.example/dir'))
    await runtime.db.delete(linkHosts)
    await runtime.db.delete(acmeAccounts)
    mine = await createTestWorkspace(runtime)
    orders = []
    host = `files-${++hosts}.example.com`
    await verified(mine)
  })

  async function verified({ actor, workspaceId }: TestWorkspace, name = host) {
    await saveLinkHost(runtime, actor, { host: name })
    const verifiedAt = new Date(runtime.clock.now())
    await runtime.db.update(linkHosts).set({ verifiedAt }).where(eq(linkHosts.workspaceId, workspaceId))
  }

  /** An authority that certifies everything. */
  const certifies: typeof orderCertificate = async (order) => {
    orders.push(order)
    const { host, signingRequest } = order
    const at = signingRequest.indexOf(P256)
    const spki = signingRequest.subarray(at, at + P256.length + 65)
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    const from = runtime.clock.now()
    return certify({ host, key, from, to: from + LIFETIME_MS }, createKeyPair().privateKey)
  }
  const refuses =
    (problem: { type?: string; detail?: string }): typeof orderCertificate =>
    async (order) => {
      orders.push(order)
      throw new AcmeError(problem)
    }
  const work = (order = certifies, at = runtime) => orderDueCertificate(at, { order, wait: async () => {} })
  /** Longer than the pause between orders. */
  const later = (ms = minutes(1)) => runtime.clock.advance(ms)
  const read = async (of = mine) => (await readLinkHost(runtime, of.workspaceId)).certificate

  it('is ordered once for a verified host, and read with its key, which is sealed', async () => {
    expect(await read()).toEqual({ validUntil: null, fault: null })
    expect(await readHostCertificate(runtime, host)).toBeUndefined()
    const origin = () => originOfLinks(runtime, mine.workspaceId)
    expect(await origin()).toBe('https://sluice.example.com')
    expect(await work()).toBe(1)
    expect(await origin()).toBe(`https://${host}`)
    later()
    expect(await work()).toBe(0)
    expect(orders.map((order) => [order.host, order.directory])).toEqual([[host, 'https://ca.example/dir']])

    const found = (await readHostCertificate(runtime, host))!
    const certificate = new X509Certificate(found.cert)
    expect(certificate.checkHost(host)).toBe(host)
    expect(found.key).toMatch(/^-----BEGIN PRIVATE KEY-----/)
    expect(await read()).toEqual({ validUntil: certificate.validToDate.toISOString(), fault: null })
    const [row] = await runtime.db.select().from(linkHosts)
    const [account] = await runtime.db.select().from(acmeAccounts)
    for (const sealed of [row!.certificateKey, account!.sealed]) expect(sealed).toMatch(/^v2\./)
    expect(runtime.logLines.join()).not.toContain('PRIVATE')
  })

  it('is neither ordered nor read for a host that is not verified', async () => {
    await work()
    await runtime.db.update(linkHosts).set({ verifiedAt: null })
    later(days(365))
    expect([await work(), await read()]).toEqual([0, null])
    expect(await readHostCertificate(runtime, host)).toBeUndefined()
  })

  it('is renewed by the same account once two thirds of its lifetime have passed', async () => {
    await work()
    const before = await readHostCertificate(runtime, host)
    later(days(60) - seconds(1))
    expect(await work()).toBe(0)
    later(seconds(1))
    expect(await work()).toBe(1)
    const after = await readHostCertificate(runtime, host)
    expect([after!.cert === before!.cert, after!.key === before!.key]).toEqual([false, false])
    expect(orders[1]!.accountKey.equals(orders[0]!.accountKey)).toBe(true)
  })

  it('stays in use while its renewal fails', async () => {
    await work()
    const before = await readHostCertificate(runtime, host)
    later(days(60))
    await work(refuses({ detail: 'no' }))
    expect(await readHostCertificate(runtime, host)).toEqual(before)
    expect(await read()).toMatchObject({ validUntil: expect.any(String), fault: expect.any(String) })
  })

  it('is ordered again after a wait that grows, and says why it is missing until then', async () => {
    const type = 'urn:ietf:params:acme:error:connection'
    await work(refuses({ type, detail: 'Timeout\u0000' }))
    expect(await read()).toEqual({
      validUntil: null,
      fault: `The address of ${host} does not lead to this server on port 443. The certificate authority says: “Timeout?”`,
    })
    later(minutes(9))
    expect(await work()).toBe(0)
    later()
    await work(refuses({ type: 'urn:ietf:params:acme:error:caa', detail: 'CAA' }))
    expect((await read())!.fault).toBe(`The certificate authority refuses ${host}, and says: “CAA”`)
    later(minutes(19))
    expect(await work()).toBe(0)
    later()
    await work()
    expect(await read()).toEqual({ validUntil: expect.any(String), fault: null })
  })

  it('is ordered without a wait once its admins check it again, up to a limit', async () => {
    const silent = async (): Promise<never> => {
      throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED 192.0.2.1') })
    }
    const names = {
      resolveTxt: async () => [[`sluice-workspace=${mine.workspaceId}`]],
      resolve4: async () => ['192.0.2.1'],
      resolve6: async () => [],
    } as unknown as Parameters<typeof checkLinkHost>[2]
    for (let order = 0; order < 4; order++) {
      expect(await work(silent)).toBe(1)
      expect((await read())!.fault).toMatch(/^The certificate authority did not respond/)
      later()
      expect(await work()).toBe(0)
      await checkLinkHost(runtime, mine.actor, names)
    }
    expect(await work()).toBe(1)
    expect([orders, (await read())!.fault]).toEqual([[], expect.stringContaining('several certificates')])
    later(hours(1))
    await checkLinkHost(runtime, mine.actor, names)
    await work()
    expect(await read()).toEqual({ validUntil: expect.any(String), fault: null })
  })

  it('is ordered by one node at a time, and for one host at a time, the longest due first', async () => {
    const theirs = await createTestWorkspace(runtime)
    later()
    await verified(theirs, `other-${host}`)
    const nodes = Array.from({ length: 3 }, () => ({ ...runtime }))
    const done = await Promise.all(nodes.map((node) => work(certifies, node)))
    expect(done.sort()).toEqual([0, 0, 1])
    expect(await work()).toBe(0)
    later(seconds(39))
    expect(await work()).toBe(0)
    later(seconds(1))
    expect(await work()).toBe(1)
    expect(orders.map((order) => order.host)).toEqual([host, `other-${host}`])
  })

  it('is not ordered again by a node that creates the account just after another one has ordered it', async () => {
    const db = new Proxy(runtime.db, {
      get(target, name) {
        if (name !== 'transaction') return Reflect.get(target, name)
        return async (run: Parameters<typeof target.transaction>[0]) => {
          if (orders.length === 0) await work()
          return target.transaction(run)
        }
      },
    })
    expect(await work(certifies, { ...runtime, db })).toBe(0)
    later()
    expect([await work(), orders.length]).toEqual([0, 1])
  })

  it('is ordered again 5 minutes after a node that died while ordering it', async () => {
    let started = () => {}
    const dying = new Promise<void>((resolve) => {
      started = resolve
    })
    void work(() => {
      started()
      return new Promise(() => {})
    })
    await dying
    later(minutes(4))
    expect(await work()).toBe(0)
    later()
    expect(await work()).toBe(1)
    expect(await read()).toMatchObject({ validUntil: expect.any(String) })
  })

  it('is answered for by every node while its challenge is open, and then no longer', async () => {
    const digest = Buffer.alloc(32, 5)
    const challenge = async () => (await runtime.db.select().from(linkHosts))[0]!.challenge
    const waits: number[] = []
    const challenges: typeof orderCertificate = async (order) => {
      await order.present(digest)
      expect(await challenge()).toBe(digest.toString('hex'))
      return certifies(order)
    }
    const wait = async (ms: number) => void waits.push(ms)
    await orderDueCertificate(runtime, { order: challenges, wait })
    // Nodes read hosts every 5 seconds.
    expect([waits, await challenge()]).toEqual([[seconds(6)], null])
  })

  it('is discarded if the host is changed or its key does not fit', async () => {
    await work(async (order) => {
      await saveLinkHost(runtime, mine.actor, { host: `new-${host}` })
      return certifies(order)
    })
    const [row] = await runtime.db.select().from(linkHosts)
    expect([row!.host, row!.certificate]).toEqual([`new-${host}`, null])

    await verified(mine)
    later()
    const { publicKey, privateKey } = createKeyPair()
    const from = runtime.clock.now()
    await work(async () => certify({ host, key: publicKey, from, to: from + 1e9 }, privateKey))
    expect(await read()).toEqual({ validUntil: null, fault: expect.stringContaining('Its log says more') })
  })

  it('is ordered again from another authority, with another account', async () => {
    await work()
    const other = testRuntime(database(), of('https://other.example/dir'))
    expect(await work(certifies, { ...other, clock: runtime.clock })).toBe(1)
    expect(orders[1]).toMatchObject({ host, directory: 'https://other.example/dir' })
    expect(orders[1]!.accountKey.equals(orders[0]!.accountKey)).toBe(false)
    expect(await runtime.db.select().from(acmeAccounts)).toHaveLength(1)
  })
})
