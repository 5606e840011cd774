import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { auditLog, linkHosts } from '#drizzle/schema/index.ts'
import { blocked, describeWithDatabase, holdTransaction } from '../../test/support/databases.ts'
import { openNameServer } from '../../test/support/name-server.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { sampleOf } from '../../test/support/sample-files.ts'
import { createTestWorkspace } from '../../test/support/workspace.ts'
import type { Actor } from '../identity/audit/record-audit.ts'
import type { Db } from '../platform/db/database.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import { runRequest } from '../platform/kernel/request-context.ts'
import { assertServedHere } from '../workspace/pipes/read-pipes.ts'
import { checkLinkHost, createHostFinder, linkHostInput, readLinkHost, saveLinkHost } from './link-host.ts'
import { findLogo, saveLogo } from './link-pages.ts'
import { createUploadLink, hashingPassword } from './manage-links.ts'
import { lookAtLink, openLink } from './open-link.ts'
import { uploadLinkInput } from './upload-link.ts'

const HERE = '192.0.2.1'
const POINTS_HERE = { A: ['198.51.100.7'] }
let hosts = 0

it.each([
  ['Files.Example.com.', 'files.example.com'],
  [' bücher.example ', 'xn--bcher-kva.example'],
])('reads %j as %s', (given, host) => {
  expect(parseInput(linkHostInput, { host: given })).toEqual({ host })
})

it.each([
  '',
  'localhost',
  '127.0.0.1',
  '0x7f.1',
  '[::1]',
  'https://files.example.com',
  'files.example.com/u',
  'files.example.com:8080',
  'a@files.example.com',
  '*.example.com',
  '_files.example.com',
  'files..example.com',
  '-files.example.com',
  `${'a'.repeat(64)}.example.com`,
  `${'a.'.repeat(125)}com`,
])('refuses %j as a host', (host) => {
  expect(() => parseInput(linkHostInput, { host })).toThrow()
})

describeWithDatabase("a workspace's own host", (database) => {
  let runtime: TestRuntime
  let names: Awaited<ReturnType<typeof openNameServer>>
  let mine: Awaited<ReturnType<typeof createTestWorkspace>>
  let theirs: typeof mine
  let host: string

  beforeAll(async () => {
    runtime = testRuntime(database())
    names = await openNameServer()
  })
  afterAll(() => names.close())
  beforeEach(async () => {
    mine = await createTestWorkspace(runtime)
    theirs = await createTestWorkspace(runtime)
    host = `files-${++hosts}.example.com`
  })

  const save = (actor: Actor, name: string | null = host) => saveLinkHost(runtime, actor, { host: name })
  const check = (actor: Actor) => checkLinkHost(runtime, actor, names.resolver)
  const read = ({ workspaceId }: Actor) => readLinkHost(runtime, workspaceId)
  const proofOf = ({ workspaceId }: Actor) => `sluice-workspace=${workspaceId}`
  const publish = (...actors: Actor[]) => {
    names.zone.set(`_sluice.${host}`, { TXT: actors.map(proofOf) })
    names.zone.set(host, POINTS_HERE)
  }
  const verified = async (actor: Actor) => {
    await save(actor)
    publish(actor)
    expect((await check(actor)).faults).toEqual([])
  }
  const newLink = async ({ actor, pipe }: typeof mine) => {
    const input = parseInput(uploadLinkInput, { pipeId: pipe.id, title: 'Films' })
    return createUploadLink(runtime, actor, await hashingPassword(input))
  }

  it('is used by new links once DNS names the workspace and an address', async () => {
    const { actor, workspaceId } = mine
    const proof = proofOf(actor)
    expect(await save(actor)).toEqual({
      host,
      verifiedAt: null,
      records: [
        { type: 'TXT', name: `_sluice.${host}`, value: proof },
        { type: 'CNAME', name: host, value: 'localhost' },
      ],
      certificate: null,
    })
    const faultsWith = async (
      texts: string[] | 'fails' | undefined,
      address?: typeof POINTS_HERE | 'fails',
    ) => {
      names.zone.clear()
      if (texts) names.zone.set(`_sluice.${host}`, texts === 'fails' ? texts : { TXT: texts })
      if (address) names.zone.set(host, address)
      return (await check(actor)).faults
    }
    const missing = `There is no TXT record _sluice.${host} yet.`
    const silent = `The name servers of ${host} did not answer. Try again in a moment.`
    const unresolved = `${host} has no address yet: the record is missing, or its target has none.`
    expect(await faultsWith(undefined)).toEqual([missing, unresolved])
    expect(await faultsWith([], POINTS_HERE)).toEqual([missing])
    expect(await faultsWith(['other\u0007'], POINTS_HERE)).toEqual([
      `The TXT record _sluice.${host} is “other?” instead of “${proof}”.`,
    ])
    expect(await faultsWith([proofOf(theirs.actor)], POINTS_HERE)).toHaveLength(1)
    expect(await faultsWith([proof])).toEqual([unresolved])
    expect(await faultsWith('fails', POINTS_HERE)).toEqual([silent])
    expect(await faultsWith([proof], 'fails')).toEqual([silent])
    expect((await newLink(mine)).url).toMatch(/^http:\/\/localhost:3000\/u\//)

    expect(await faultsWith(['other', proof], POINTS_HERE)).toEqual([])
    const { verifiedAt } = await read(actor)
    expect(verifiedAt).toBe(new Date(runtime.clock.now()).toISOString())
    expect((await newLink(mine)).url).toMatch(new RegExp(`^http://${host}:3000/u/\\w{22}$`))
    // It stays in use if a record is missing later, and only as long as the name stays the same.
    expect(await faultsWith(undefined)).toHaveLength(2)
    expect((await save(actor)).verifiedAt).toBe(verifiedAt)
    expect((await save(actor, `other.${host}`)).verifiedAt).toBeNull()
    expect((await newLink(mine)).url).toMatch(/^http:\/\/localhost:3000\/u\//)
    const entries = await runtime.db.select().from(auditLog).where(eq(auditLog.workspaceId, workspaceId))
    const ofHost = entries.filter(({ action }) => action.startsWith('upload_link.host_'))
    expect(ofHost.map(({ action, detail }) => [action, detail])).toEqual([
      ['upload_link.host_changed', { host }],
      ['upload_link.host_verified', { host }],
      ['upload_link.host_changed', { host }],
      ['upload_link.host_changed', { host: `other.${host}` }],
    ])
  })

  it('stays with its workspace until DNS names only another one', async () => {
    await verified(mine.actor)
    await save(theirs.actor)
    expect((await check(theirs.actor)).faults).toHaveLength(1)
    publish(mine.actor, theirs.actor)
    expect((await check(theirs.actor)).faults).toEqual([
      `Another workspace has this host. Remove its TXT record “${proofOf(mine.actor)}” first.`,
    ])
    expect((await read(mine.actor)).verifiedAt).not.toBeNull()
    publish(theirs.actor)
    expect((await check(theirs.actor)).faults).toEqual([])
    expect([(await read(mine.actor)).verifiedAt, (await read(theirs.actor)).host]).toEqual([null, host])
  })

  it('belongs to one workspace if two check it at once', async () => {
    for (const { actor } of [mine, theirs]) await save(actor)
    publish(mine.actor, theirs.actor)
    const lockBoth = (tx: Db) => tx.select().from(linkHosts).where(eq(linkHosts.host, host)).for('update')
    const release = await holdTransaction(database(), lockBoth)
    const checks = Promise.all([mine, theirs].map(async ({ actor }) => (await check(actor)).faults))
    await blocked(database(), 2)
    await release()
    const faults = await checks
    expect(faults.map(({ length }) => length).sort()).toEqual([0, 1])
  })

  it("refuses the server's own host", async () => {
    const config = { ...runtime.config, uploadUrl: 'https://uploads.example.com' }
    await expect(
      saveLinkHost({ ...runtime, config }, mine.actor, { host: 'uploads.example.com' }),
    ).rejects.toMatchObject({ fields: [{ field: 'host' }] })
  })

  it('is found while it is verified, from memory for 5 seconds and while the database is away', async () => {
    let isAway = false
    const db = new Proxy(runtime.db, {
      get(target, name) {
        if (isAway) throw new Error('away')
        return Reflect.get(target, name)
      },
    })
    const find = createHostFinder({ ...runtime, db })
    const tls = { certificateDueAt: null, challenge: null }
    const found = { workspaceId: mine.workspaceId, origin: `http://${host}:3000`, ...tls }
    await save(mine.actor)
    expect(await find(host)).toBeUndefined()
    await verified(mine.actor)
    expect(await find(host)).toBeUndefined()
    runtime.clock.advance(5000)
    expect(await find(host)).toEqual(found)
    runtime.clock.advance(5000)
    isAway = true
    expect(await find(host)).toEqual(found)
    expect(await find(`unknown-${host}`)).toBeUndefined()
    await expect(createHostFinder({ ...runtime, db })(host)).rejects.toThrow('away')
    isAway = false
    await save(mine.actor, null)
    expect(await find(host)).toEqual(found)
    runtime.clock.advance(5000)
    expect(await find(host)).toBeUndefined()
    expect(await find(`unknown-${host}`)).toBeUndefined()
  })

  it('is found with one statement, however many other names are asked for', async () => {
    let statements = 0
    const db = new Proxy(runtime.db, {
      get(target, name) {
        if (name === 'select') statements += 1
        return Reflect.get(target, name)
      },
    })
    const find = createHostFinder({ ...runtime, db })
    await verified(mine.actor)
    await Promise.all(Array.from({ length: 100 }, (_, n) => find(`made-up-${n}.example.com`)))
    expect(await find(host)).toMatchObject({ workspaceId: mine.workspaceId })
    expect(statements).toBe(1)
  })

  it("has its own workspace's links, logo and Pipes, at its own address, and no others", async () => {
    const { workspaceId } = mine
    const context = { id: 'r', traceparent: undefined, notes: {} }
    const linkHost = { workspaceId, origin: `https://${host}` }
    const there = <Result>(work: () => Promise<Result>) => runRequest({ ...context, linkHost }, work)
    const image = sampleOf('png').toString('base64')
    const [own, other] = [await newLink(mine), await newLink(theirs)]
    const { logoUrl } = await saveLogo(runtime, mine.actor, { image })
    const logo = logoUrl!.split('/').at(-1)!
    const visitor = 'v'.repeat(43)

    const shown = await there(() => lookAtLink(runtime, own.code, HERE))
    expect(shown.pages.logoUrl).toBe(`https://${host}/u/logo/${logo}`)
    const opened = await there(() => openLink(runtime, { code: own.code, visitor }, HERE))
    expect(opened.upload!.uploadUrl).toBe(`https://${host}/pipes/${mine.pipe.id}/files/`)
    expect(await there(() => findLogo(runtime, logo))).toMatchObject({ type: 'image/png' })
    await there(() => assertServedHere(runtime.db, mine.pipe.id))

    const unknown = { code: 'not_found' }
    await expect(there(() => lookAtLink(runtime, other.code, HERE))).rejects.toMatchObject(unknown)
    const opening = there(() => openLink(runtime, { code: other.code, visitor }, HERE))
    await expect(opening).rejects.toMatchObject(unknown)
    await expect(there(() => assertServedHere(runtime.db, theirs.pipe.id))).rejects.toMatchObject({
      code: 'pipe_not_found',
    })
    const alien = { ...linkHost, workspaceId: theirs.workspaceId }
    expect(await runRequest({ ...context, linkHost: alien }, () => findLogo(runtime, logo))).toBeUndefined()

    // Outside it, nothing changes.
    expect((await lookAtLink(runtime, own.code, HERE)).pages.logoUrl).toBe(logoUrl)
    expect((await openLink(runtime, { code: own.code, visitor }, HERE)).upload!.uploadUrl).toMatch(
      /^http:\/\/localhost:3000\/pipes\//,
    )
    expect((await lookAtLink(runtime, other.code, HERE)).title).toBe('Films')
  })
})
