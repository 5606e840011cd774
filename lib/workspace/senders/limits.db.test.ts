import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { CERTIFICATE } from '../../../test/support/certificates.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { connectFtp, put, serveFtp } from '../../../test/support/ftp-site.ts'
import { httpCall } from '../../../test/support/http-call.ts'
import { longUnless } from '../../../test/support/long.ts'
import { connectSftp, serveSftp } from '../../../test/support/sftp-site.ts'
import { tusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { backendUploadInput, createBackendUpload } from '../../backend-uploads/create-backend-upload.ts'
import { sealNamedBatch } from '../../batches/seal-batch.ts'
import { createImports } from '../../imports/create-imports.ts'
import { importsInput } from '../../imports/import.ts'
import { seconds } from '../../platform/kernel/clock.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { makeKeyPair } from '../../sftp/make-key-pair.ts'
import { addSenderKey, senderKeyInput } from '../../sftp/sender-keys.ts'
import { createPipe } from '../pipes/create-pipe.ts'
import { pipeInput } from '../pipes/pipe.ts'
import { issueToken } from '../tokens/issue-token.ts'
import { tokenInput } from '../tokens/token.ts'
import { limitSender } from './change-sender.ts'
import { createSender } from './create-sender.ts'
import { showSender } from './read-senders.ts'
import { changeGroup, createGroup } from './sender-groups.ts'

const ABSENT = 'pipe_aaaaaaaaaaaaaaaaaaaa'
const SOURCE = { http: true, url: true, sftp: true, ftps: true, ftp: true }

/** A Sender with everything that it needs for each way in, obtained while it was not limited. */
type Equipped = { id: string; sk: string; tmp: string; privateKey: string; begun: string }
/** The Pipes are `this`, which the ways in use, and `other`. */
type Limits = { pipes?: ('this' | 'other')[]; sources?: ('http' | 'sftp' | 'ftp')[] }

const ONLY_OTHER: Limits = { pipes: ['other'] }
/** A Sender's own limits, those of its group, and the sources by which it may reach the Pipe. */
const RIGHTS: [own: Limits, ofGroup: Limits | undefined, reachable: string[]][] = [
  [{}, undefined, ['http', 'sftp', 'ftp']],
  [{}, {}, ['http', 'sftp', 'ftp']],
  [{ pipes: ['this'] }, undefined, ['http', 'sftp', 'ftp']],
  [ONLY_OTHER, undefined, []],
  [{}, { pipes: ['this', 'other'] }, ['http', 'sftp', 'ftp']],
  [{}, ONLY_OTHER, []],
  [{ pipes: ['this'] }, ONLY_OTHER, ['http', 'sftp', 'ftp']],
  [ONLY_OTHER, { pipes: ['this'] }, []],
  [{ sources: ['http'] }, undefined, ['http']],
  [{ sources: ['sftp'] }, undefined, ['sftp']],
  [{ sources: ['ftp'] }, undefined, ['ftp']],
  [{}, { sources: ['sftp', 'ftp'] }, ['sftp', 'ftp']],
  [{ sources: ['http', 'ftp'] }, { sources: ['sftp'] }, ['http', 'ftp']],
  [{ sources: ['sftp'] }, { pipes: ['this'] }, ['sftp']],
  [{ sources: ['http'] }, ONLY_OTHER, []],
]

describeWithDatabase('what a Sender may use', (database) => {
  let site: Site
  let other: string
  let node: Awaited<ReturnType<typeof serveUploads>>
  let sftp: Awaited<ReturnType<typeof serveSftp>>
  let ftp: Awaited<ReturnType<typeof serveFtp>>
  beforeAll(async () => {
    const { cert, key } = CERTIFICATE
    const settings = { FTP_PORT: '0', FTP_PLAIN: '1', TLS_CERT_FILE: cert, TLS_KEY_FILE: key }
    site = await createSite(database(), {
      pipe: { source: SOURCE },
      settings: { ...settings, BASE_URL: 'https://localhost:3000' },
    })
    const input = { name: 'Other', dataStoreId: site.dataStore.id, source: SOURCE }
    other = (await createPipe(site.runtime, site.actor, parseInput(pipeInput, input))).id
    node = await serveUploads(site.runtime)
    sftp = await serveSftp(site.runtime)
    ftp = await serveFtp(site.runtime)
  })
  afterAll(async () => {
    await Promise.all([node?.close(), sftp?.close(), ftp?.close()])
    await site?.close()
  })

  const tus = (pipeId: string, token: string) => tusClient({ url: node.url, pipeId, token })
  const issue = async (sk: string, pipeId: string) =>
    (await issueToken(site.runtime, sk, parseInput(tokenInput, { pipeId, batch: 'b' }))).token

  async function equip(): Promise<Equipped> {
    const { id, token: sk } = await createSender(site.runtime, site.actor, { name: 'Device' })
    const pair = makeKeyPair()
    const input = parseInput(senderKeyInput, { name: 'Key', publicKey: pair.public })
    await addSenderKey(site.runtime, site.actor, id, input)
    const tmp = await issue(sk, site.pipe.id)
    const begun = (await tus(site.pipe.id, tmp).create(6)).headers.location!
    return { id, sk, tmp, privateKey: pair.private, begun: new URL(begun).pathname }
  }

  async function limited(own: Limits, ofGroup: Limits | undefined): Promise<Equipped> {
    const equipped = await equip()
    const ids = { this: site.pipe.id, other }
    const toLimits = ({ pipes, sources }: Limits) => ({
      pipeIds: pipes?.map((name) => ids[name]) ?? null,
      sources: sources ?? null,
    })
    const group =
      ofGroup && (await createGroup(site.runtime, site.actor, { name: equipped.id, ...toLimits(ofGroup) }))
    const changes = { ...toLimits(own), groupId: group?.id ?? null }
    await limitSender(site.runtime, site.actor, equipped.id, changes)
    return equipped
  }

  const http = async (
    method: string,
    pipeId: string,
    { tmp, begun }: Equipped,
    headers = {},
    body?: Buffer,
  ) => {
    const url = node.url + begun.replace(site.pipe.id, pipeId)
    const tusHeaders = { 'Tus-Resumable': '1.0.0', ...headers }
    const answer = await httpCall({ method, url, token: tmp, headers: tusHeaders, body })
    return said(answer.status < 300, [answer.status, answer.body])
  }
  const WAYS: Record<string, [source: string, run: (of: Equipped, pipeId: string) => Promise<string>]> = {
    'the token API': ['any', async ({ sk }, pipeId) => said(true, await issue(sk, pipeId))],
    'an upload by a backend': [
      'http',
      async ({ sk }, pipeId) => {
        const input = parseInput(backendUploadInput, { pipeId, filename: 'a.bin' })
        return said(true, await createBackendUpload(site.runtime, sk, input))
      },
    ],
    'an import': [
      'http',
      async ({ sk }, pipeId) => {
        const input = { pipeId, files: [{ url: 'https://example.com/a' }] }
        return said(true, await createImports(site.runtime, sk, parseInput(importsInput, input)))
      },
    ],
    'the offset of an upload': ['http', (of, pipeId) => http('HEAD', pipeId, of)],
    'the bytes of an upload': [
      'http',
      (of, pipeId) =>
        http(
          'PATCH',
          pipeId,
          of,
          { 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' },
          Buffer.from('abcdef'),
        ),
    ],
    'a new upload': [
      'http',
      async ({ tmp }, pipeId) => {
        const answer = await tus(pipeId, tmp).create(5)
        return said(answer.status === 201, [answer.status, answer.body])
      },
    ],
    'SFTP with a token': [
      'sftp',
      async ({ tmp }, pipeId) => {
        const client = await connectSftp({ port: sftp.port, pipe: { id: pipeId } }, tmp)
        await client.put(`${pipeId}.bin`, Buffer.from('sftp'))
        return said(true, await client.end())
      },
    ],
    'SFTP with a key': [
      'sftp',
      async ({ privateKey }, pipeId) => {
        const client = await connectSftp({ port: sftp.port, pipe: { id: pipeId } }, undefined, { privateKey })
        await client.put(`${pipeId}.bin`, Buffer.from('sftp'))
        return said(true, await client.end())
      },
    ],
    ...Object.fromEntries(
      [true, false].flatMap((secure) =>
        (['sk', 'tmp'] as const).map((kind) => [
          `${secure ? 'FTPS' : 'FTP'} with ${kind}_`,
          [
            'ftp',
            async (of: Equipped, pipeId: string) => {
              const where = { port: ftp.port, pipe: { id: pipeId } }
              const client = await connectFtp(where, of[kind], { secure })
              await put(client, `${pipeId}.bin`, Buffer.from('ftp'))
              client.close()
              return said(true, '')
            },
          ],
        ]),
      ),
    ),
    // Last, because no more files can be added.
    'a batch to seal': [
      'any',
      async ({ sk }, pipeId) =>
        said(true, await sealNamedBatch(site.runtime, sk, { pipeId, batch: 'b', subject: undefined })),
    ],
  }

  for (const [at, [own, ofGroup, reachable]] of RIGHTS.entries()) {
    const [mine, theirs] = [own, ofGroup].map((limits) => JSON.stringify(limits))
    const name = `is the same by every way in: own limits ${mine}, of the group ${theirs}`
    it(name, longUnless(at % 4 === 3), async () => {
      const equipped = await limited(own, ofGroup)
      for (const [way, [source, run]] of Object.entries(WAYS)) {
        const asked = (pipeId: string) =>
          run(equipped, pipeId).catch((error) => said(false, `${error.code} ${error.message}`))
        const answer = await asked(site.pipe.id)
        const isMine = source === 'any' ? reachable.length > 0 : reachable.includes(source)
        expect(answer.startsWith('yes'), `${way}: ${answer}`).toBe(isMine)
        if (reachable.length === 0) expect(answer, way).toBe(await asked(ABSENT))
      }
    })
  }

  it('applies to the next write of open sessions once it changes', async () => {
    const device = await limited({}, {})
    const pipe = site.pipe
    const bySftp = await connectSftp({ port: sftp.port, pipe }, undefined, device)
    const handle = await bySftp.open('open.bin', 'w')
    await bySftp.write(handle, Buffer.from('before'), 0)
    const byFtp = await connectFtp({ port: ftp.port, pipe }, device.sk)
    const closed = vi.fn()
    byFtp.ftp.socket.once('close', closed)
    await limitSender(site.runtime, site.actor, device.id, { sources: ['http'] })
    site.clock.advance(seconds(2))
    await expect(bySftp.write(handle, Buffer.from('after'), 6)).rejects.toThrow('may only use HTTP')
    await bySftp.gone
    await expect(put(byFtp, 'open.bin', Buffer.from('after'))).rejects.toThrow('may only use HTTP')
    byFtp.close()
  })

  it('is checked before an upload is reserved for its only writer', async () => {
    const device = await equip()
    const patch = () => WAYS['the bytes of an upload']![1](device, site.pipe.id)
    await limitSender(site.runtime, site.actor, device.id, { pipeIds: [other] })
    expect(await patch()).toContain('token_invalid')
    await limitSender(site.runtime, site.actor, device.id, { pipeIds: null, sources: ['ftp'] })
    expect(await patch()).toContain('forbidden')
    await limitSender(site.runtime, site.actor, device.id, { sources: null })
    expect(await patch()).toMatch(/^yes/)
  })

  it('is recorded: sign-ins with their address, and those that were refused', { tags: 'long' }, async () => {
    const device = await equip()
    const shown = () => showSender(site.runtime, site.actor, device.id)
    for (const way of ['SFTP with a token', 'SFTP with a key', 'FTPS with sk_', 'FTP with tmp_']) {
      site.clock.advance(seconds(2))
      const at = new Date(site.clock.now()).toISOString()
      await WAYS[way]![1](device, site.pipe.id)
      const { lastUsedAt, lastAddress } = await shown()
      expect([lastUsedAt! >= at, lastAddress], way).toEqual([true, '127.0.0.1'])
    }
    await limitSender(site.runtime, site.actor, device.id, { pipeIds: [other] })
    for (const way of [
      'SFTP with a token',
      'SFTP with a key',
      'FTPS with sk_',
      'FTP with tmp_',
      'the token API',
    ]) {
      site.clock.advance(seconds(2))
      const { refusedCount } = await shown()
      await expect(WAYS[way]![1](device, site.pipe.id), way).rejects.toThrow()
      expect((await shown()).refusedCount, way).toBeGreaterThan(refusedCount)
    }
  })

  it("follows the group's limits, and Pipes of others cannot be named", async () => {
    const group = await createGroup(site.runtime, site.actor, { name: 'Plant' })
    const device = await equip()
    await limitSender(site.runtime, site.actor, device.id, { groupId: group.id })
    await issue(device.sk, site.pipe.id)
    await changeGroup(site.runtime, site.actor, group.id, { pipeIds: [other] })
    await expect(issue(device.sk, site.pipe.id)).rejects.toMatchObject({ code: 'pipe_not_found' })
    const elsewhere = changeGroup(site.runtime, site.actor, group.id, { pipeIds: [ABSENT] })
    await expect(elsewhere).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

/** An answer in which ids do not matter. */
const said = (ok: boolean, answer: unknown) =>
  `${ok ? 'yes' : 'no'} ${JSON.stringify(answer)?.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id')}`
