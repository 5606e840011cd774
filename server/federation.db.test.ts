import { createHmac, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openBucket } from '../lib/buckets/open-bucket.ts'
import { capabilitiesOf } from '../lib/buckets/providers.ts'
import type { Federation } from '../lib/buckets/temporary/federation.ts'
import { readSigningKeys, signingKeyPlace } from '../lib/identity/issuer/signing-keys.ts'
import { issueStatement, publishedKeys } from '../lib/identity/issuer/statements.ts'
import type { DatabaseHandle } from '../lib/platform/db/database.ts'
import { days, seconds } from '../lib/platform/kernel/clock.ts'
import { parseInput } from '../lib/platform/kernel/parse-input.ts'
import { signJwt } from '../lib/platform/kernel/sign-jwt.ts'
import { createGuardedAgents } from '../lib/platform/net/guarded-agents.ts'
import { checkDataStore } from '../lib/workspace/data-stores/check-data-store.ts'
import { createDataStore } from '../lib/workspace/data-stores/create-data-store.ts'
import { dataStoreInput } from '../lib/workspace/data-stores/data-store.ts'
import { listRejecting } from '../lib/workspace/data-stores/rejections.ts'
import { saveDestinations } from '../lib/workspace/pipes/destinations.ts'
import { CONTAINER } from '../test/support/azure-signatures.ts'
import { type AzureStorage, startAzureStorage } from '../test/support/azure-storage.ts'
import { openTestDatabase } from '../test/support/databases.ts'
import { makeKeyFile } from '../test/support/google-cloud.ts'
import { serveIssuer } from '../test/support/issuer.ts'
import {
  APPLICATION,
  POOL_PROVIDER,
  ROLE,
  SERVICE_ACCOUNT,
  startTrustingCloud,
  type TrustingCloud,
} from '../test/support/trusting-cloud.ts'
import { fileIdOf } from '../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../test/support/upload-site.ts'
import { read } from '../test/support/verify-statement.ts'

const MiB = 1024 * 1024
const PIECE = MiB / 4
type CloudName = 'aws' | 'azure' | 'gcs'
const FEDERATIONS: Record<CloudName, Federation> = {
  aws: { role: ROLE },
  azure: APPLICATION,
  gcs: { identityProvider: POOL_PROVIDER },
}
const CLOUDS = Object.keys(FEDERATIONS) as CloudName[]

describe('a Data Store without a secret', () => {
  let database: DatabaseHandle
  let site: Site
  let azure: AzureStorage
  let issuer: Awaited<ReturnType<typeof serveIssuer>>
  let cloud: TrustingCloud
  let node: Awaited<ReturnType<typeof serveUploads>>
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database)
    azure = await startAzureStorage(site.clock)
    issuer = await serveIssuer(site.runtime)
    const trust = { issuer: issuer.url, subject: '' }
    cloud = await startTrustingCloud(site.clock, trust, { bucket: site.bucket, azure: azure.endpoint })
    node = await serveUploads(site.runtime, { issuer: issuer.url })
  })
  beforeEach(() => {
    Object.assign(cloud, { lifetimeSeconds: 3600, refused: 0, served: 0 })
    Object.assign(cloud.issuing, { requests: 0, most: 0 })
    cloud.issued.clear()
  })
  afterAll(async () => {
    await node?.close()
    await cloud?.close()
    await issuer?.close()
    await azure?.close()
    await site?.close()
    await database?.close()
  })

  const placeIn = (name: CloudName) => ({
    endpoint: name === 'azure' ? `${cloud.endpoint}/acmemedia` : cloud.endpoint,
    bucket: name === 'azure' ? CONTAINER : site.bucket.name,
  })

  async function connect(name: CloudName, federation: Federation = FEDERATIONS[name]) {
    const { runtime, actor, pipe, bucket } = site
    const fields = { name, provider: name, ...placeIn(name), federation }
    const region = name === 'aws' ? { region: bucket.region } : {}
    const store = await createDataStore(runtime, actor, parseInput(dataStoreInput, { ...fields, ...region }))
    cloud.trust.subject = store.identity.subject
    const { check } = await checkDataStore(runtime, actor, store.id)
    expect(check?.ok, JSON.stringify(check)).toBe(true)
    Object.assign(cloud.issuing, { requests: 0, most: 0 })
    await database.db.transaction((tx) =>
      saveDestinations(tx, actor, pipe.id, [{ dataStoreId: store.id, required: true }]),
    )
    return store
  }

  it.each<[string, CloudName, Federation]>([
    ['AWS', 'aws', FEDERATIONS.aws],
    ['Azure', 'azure', FEDERATIONS.azure],
    ['Google Cloud', 'gcs', FEDERATIONS.gcs],
    [
      'Google Cloud as a service account',
      'gcs',
      { identityProvider: POOL_PROVIDER, serviceAccount: SERVICE_ACCOUNT },
    ],
  ])('uploads to %s', async (_, name, federation) => {
    await connect(name, federation)
    const client = await site.client(node)
    const whole = randomBytes(20 * MiB)
    const url = await client.begin(whole.length)
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    await Promise.all(node.context.background)
    const key = `${fileIdOf(url)}/file`
    const stored = name === 'azure' ? azure.blobs.get(key)!.bytes : await site.bucket.object(key)
    expect(stored.equals(whole)).toBe(true)
    expect(cloud.issuing.requests).toBe('serviceAccount' in federation ? 2 : 1)
    expect(cloud.refused).toBe(0)
  })

  it('renews credentials of AWS that last 20 s during an upload of ten minutes', () => uploadForLong('aws'))
  it.each(['azure', 'gcs'] as const)('does so in %s', { tags: 'long' }, uploadForLong)

  async function uploadForLong(name: CloudName) {
    await connect(name)
    cloud.lifetimeSeconds = 20
    const client = await site.client(node)
    const whole = randomBytes(40 * PIECE)
    const url = await client.begin(whole.length)
    const sendSmall = async () => client.patch(await client.begin(10), 0, randomBytes(10))
    for (let offset = 0; offset < whole.length; offset += PIECE) {
      const patch = client.patch(url, offset, whole.subarray(offset, offset + PIECE))
      for (const { status } of await Promise.all([patch, sendSmall(), sendSmall()])) expect(status).toBe(204)
      // Sometimes the credentials are due for renewal, and sometimes they have ended.
      site.clock.advance(seconds(offset % (2 * PIECE) === 0 ? 16 : 21))
    }
    await Promise.all(node.context.background)
    expect(await site.statusOf(url)).toBe('transferred')
    expect(cloud.refused).toBe(0)
    expect(cloud.issuing.most).toBe(1)
    expect(cloud.issuing.requests).toBeGreaterThanOrEqual(30)
  }

  it('quotes the cloud on the Data Store if it no longer trusts the server, and continues once it does', async () => {
    const { id, identity } = await connect('aws')
    const client = await site.client(node)
    const url = await client.begin(10)
    cloud.trust.subject = 'somebody else'
    cloud.issued.clear()
    expect((await client.patch(url, 0, randomBytes(10))).status).toBe(502)
    const reason = expect.stringContaining(
      'AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity',
    )
    expect(await listRejecting(site.runtime, site.actor)).toMatchObject([{ id, reason }])
    cloud.trust.subject = identity.subject
    expect((await client.patch(url, 0, randomBytes(10))).status).toBe(204)
  })

  it('is not to blame if Sluice cannot issue a statement', async () => {
    await connect('aws')
    const before = await listRejecting(site.runtime, site.actor)
    const { vault } = site.runtime
    const open = vault.open
    vault.open = (sealed, context) =>
      typeof context === 'object' && context.column.startsWith('signing_keys')
        ? open('v2.none.a.b.c', context)
        : open(sealed, context)
    cloud.issued.clear()
    const client = await site.client(node)
    const url = await client.begin(10)
    const { status } = await client.patch(url, 0, randomBytes(10))
    vault.open = open
    expect(status).toBe(503)
    expect(await listRejecting(site.runtime, site.actor)).toEqual(before)
  })

  describe.each(CLOUDS)('in %s', (name) => {
    /** What differs from the right statement, which is accepted. */
    const forged = makeKeyFile().file.private_key
    const HOUR = 3600
    type Forge = {
      claims?: object
      keyId?: string
      privateKey?: string
      change?: (statement: string) => string
    }
    const changed = (at: 0 | 1, change: object) => (statement: string) => {
      const parts = statement.split('.')
      parts[at] = Buffer.from(JSON.stringify({ ...read(parts[at]), ...change })).toString('base64url')
      return parts.join('.')
    }
    const withHmac = (statement: string) => {
      const signed = changed(0, { alg: 'HS256' })(statement).split('.').slice(0, 2).join('.')
      return `${signed}.${createHmac('sha256', 'public').update(signed).digest('base64url')}`
    }
    const other = '01890000-0000-7000-8000-000000000000'
    it.each<[string, string, Forge]>([
      ['signed with another key', 'verif|signature', { privateKey: forged }],
      ['with an unknown key id', 'verif|signature', { keyId: 'unknown' }],
      [
        'without a signature',
        'verif|signature',
        { change: (statement) => changed(0, { alg: 'none' })(statement).replace(/[^.]*$/, '') },
      ],
      ['signed with a shared secret', 'verif|signature', { change: withHmac }],
      ['changed after it was signed', 'verif|signature', { change: changed(1, { exp: 4_000_000_000 }) }],
      ['from another issuer', 'issuer|provider found', { claims: { iss: 'https://sluice.example.net' } }],
      ['for another cloud', 'audience', { claims: { aud: 'https://vault.example.com' } }],
      ['for nobody', 'audience', { claims: { aud: undefined } }],
      [
        'about another Data Store',
        'subject|Not authorized|condition',
        { claims: { sub: `workspace:${other}:data-store:${other}` } },
      ],
      [
        'about a whole workspace',
        'subject|Not authorized|condition',
        { claims: { sub: `workspace:${other}` } },
      ],
      ['that has ended', 'expired|valid time|stale', { claims: { exp: -HOUR } }],
      ['from the future', 'expired|valid time|stale', { claims: { iat: HOUR, exp: 2 * HOUR } }],
    ])('a statement %s is refused', async (_, words, { claims, change, ...key }) => {
      const { runtime, clock } = site
      const subject = `workspace:${other}:data-store:${site.dataStore.id}`
      cloud.trust.subject = subject
      const { signing } = await readSigningKeys(runtime)
      const own = {
        keyId: signing.publicKey.kid!,
        privateKey: runtime.vault.open(signing.sealed, signingKeyPlace(String(signing.id))),
      }
      const issue = async (audience: string) => {
        const right = read((await issueStatement(runtime, { subject, audience })).split('.')[1])
        const all: Record<string, unknown> = { ...right, ...claims }
        for (const time of ['iat', 'exp'])
          if (claims && time in claims) all[time] = Math.floor(clock.now() / 1000) + Number(all[time])
        const statement = await signJwt(all, { ...own, ...key })
        return change ? change(statement) : statement
      }
      const open = (issueStatement: (audience: string) => Promise<string>) =>
        openBucket(
          {
            ...placeIn(name),
            region: site.bucket.region,
            forcePathStyle: true,
            storageClass: null,
            encryption: null,
            capabilities: capabilitiesOf(name, null),
          },
          { federation: FEDERATIONS[name] } as never,
          {
            clock,
            agents: createGuardedAgents(['*']),
            identity: { subject, issueStatement },
            retryDelaysMs: [],
          },
        )
      const bytes = Buffer.from('hello')
      const put = (bucket: ReturnType<typeof open>, key: string) =>
        bucket.putObject({ key, contentType: 'text/plain' }, { chunks: [bytes], bytes: 5, crc32: 0x3610a686 })
      const failed = await put(open(issue), 'never').catch((error) => error)
      expect(failed).toMatchObject({ kind: 'refused', message: expect.stringMatching(words) })
      expect(cloud.served).toBe(0)
      await put(
        open((audience) => issueStatement(runtime, { subject, audience })),
        randomBytes(8).toString('hex'),
      )
    })
  })

  it('stays trusted by clouds that cache the keys for a day while keys are rotated', async () => {
    const { runtime, clock } = site
    const subject = 'workspace:1:data-store:2'
    const kidsOf = async () => (await publishedKeys(runtime)).keys.map(({ kid }) => kid)
    const seen = new Set<string | undefined>()
    for (let day = 0; day < 190; day++) {
      const cached = await kidsOf()
      for (const kid of cached) seen.add(kid)
      expect(cached.length).toBeLessThanOrEqual(2)
      clock.advance(days(1))
      const statement = await issueStatement(runtime, { subject, audience: 'sts.amazonaws.com' })
      expect(cached).toContain(read(statement.split('.')[0]).kid)
    }
    expect(seen.size).toBe(3)
  })

  it('shows its role, and whom to trust', async () => {
    const { actor } = site
    const store = await connect('aws')
    expect(store).toMatchObject({
      accessKeyId: ROLE,
      federation: { role: ROLE },
      identity: {
        issuer: issuer.url,
        subject: `workspace:${actor.workspaceId}:data-store:${store.id}`,
      },
    })
  })
})
