import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { openDecider } from '../../test/support/decider.ts'
import { httpCall } from '../../test/support/http-call.ts'
import { fileIdOf, metadata, tusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { answerRequest } from '../api/answer-request.ts'
import { OPERATIONS } from '../api/operations.ts'
import { decideOnFile } from '../dashboard/files/act-on-files.ts'
import { showFile } from '../dashboard/files/show-file.ts'
import { signInByToken } from '../folders/sign-in.ts'
import { saveHook } from '../hooks/pipe-hooks.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import { cancelUpload, endingContext } from '../uploads/endings/end-upload.ts'
import { createPipe } from '../workspace/pipes/create-pipe.ts'
import { deletePipe } from '../workspace/pipes/delete-pipe.ts'
import { pipeInput } from '../workspace/pipes/pipe.ts'
import { listSenders } from '../workspace/senders/read-senders.ts'
import {
  changeUploadLink,
  createUploadLink,
  deleteUploadLink,
  hashingPassword,
  listUploadLinks,
} from './manage-links.ts'
import { lookAtLink, openLink, openLinkInput } from './open-link.ts'
import { uploadLinkInput } from './upload-link.ts'

const newVisitor = () => randomBytes(32).toString('base64url')
const HERE = '192.0.2.1'
let addresses = 0
/** An address that no other test uses, because failures count per address. */
const elsewhere = () => `198.51.100.${++addresses}`

describeWithDatabase('an upload link', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>

  beforeAll(async () => {
    site = await createSite(database(), { pipe: { source: { http: true, sftp: true } } })
    node = await serveUploads(site.runtime)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })

  const create = (fields: Record<string, unknown> = {}) =>
    hashingPassword(
      parseInput(uploadLinkInput, { pipeId: site.pipe.id, title: 'Films for May', ...fields }),
    ).then((input) => createUploadLink(site.runtime, site.actor, input))
  const open = (code: string, more: { visitor?: string; password?: string } = {}, address = HERE) =>
    openLink(site.runtime, parseInput(openLinkInput, { code, visitor: newVisitor(), ...more }), address)
  const client = (token: string) => tusClient({ url: node.url, pipeId: site.pipe.id, token })
  const enter = async (code: string, more = {}) => client((await open(code, more)).upload!.token)
  const codeOf = ({ body }: { body: string }) => JSON.parse(body).code
  const outcome = (asked: Promise<unknown>) =>
    asked.then(
      () => 'answered',
      ({ code, message }) => `${code}: ${message}`,
    )
  const counts = async (id: string) => {
    const { data } = await listUploadLinks(site.runtime, site.actor, { limit: 100 })
    const { filesCreated, bytesCreated, state } = data.find((link) => link.id === id)!
    return { filesCreated, bytesCreated, state }
  }

  it("shows its own allowed types, or its Pipe's if it has none", async () => {
    const fields = { name: 'Films', dataStoreId: site.pipe.dataStoreId, allowedTypes: ['video/*'] }
    const { id: pipeId } = await createPipe(site.runtime, site.actor, parseInput(pipeInput, fields))
    const [any, clips] = [await create({ pipeId }), await create({ pipeId, allowedTypes: ['video/mp4'] })]
    for (const [{ code }, allowedTypes] of [
      [any, ['video/*']],
      [clips, ['video/mp4']],
    ] as const) {
      expect(await lookAtLink(site.runtime, code, HERE)).toMatchObject({ allowedTypes })
      expect(await open(code)).toMatchObject({ allowedTypes })
    }
  })

  it('has at most 4,096 characters of allowed types, because each of its tokens stores them', () => {
    const allowedTypes = Array(20).fill(`a/${'x'.repeat(240)}`)
    expect(() => create({ allowedTypes })).toThrow('allowedTypes must have at most 4096 characters')
  })

  it('lets a visitor upload a file, and is not listed among the Senders', async () => {
    const link = await create({ message: 'Send us the rushes.' })
    const opened = await open(link.code)
    expect(opened).toMatchObject({ title: 'Films for May', message: 'Send us the rushes.', state: 'open' })
    const body = randomBytes(1000)
    const { status, headers } = await client(opened.upload!.token).create(1000, {}, body)
    expect([status, await site.statusOf(headers.location!)]).toEqual([201, 'transferred'])
    expect(await counts(link.id)).toEqual({ filesCreated: 1, bytesCreated: 1000, state: 'open' })
    const senders = await listSenders(site.runtime, site.actor, { limit: 100 })
    expect(senders.data.map(({ name }) => name)).toEqual(['Backend'])
  })

  it('shows its message only to visitors with the password, if it has one', async () => {
    const message = 'For your eyes only.'
    const plain = await create({ message })
    const { config } = site.runtime
    expect(plain.url).toBe(`${config.baseUrl}/u/${plain.code}`)
    expect(await lookAtLink(site.runtime, plain.code, HERE)).toMatchObject({ message, state: 'open' })
    const { code } = await create({ message, password: 'open sesame' })
    const visitor = newVisitor()
    const known = { title: 'Films for May', hasPassword: true, message: '' }
    expect(await lookAtLink(site.runtime, code, HERE)).toMatchObject(known)
    expect(await open(code, { visitor }, elsewhere())).toMatchObject({ ...known, upload: null })
    const entered = await open(code, { visitor, password: 'open sesame' }, elsewhere())
    expect(entered.message).toBe(message)
    await client(entered.upload!.token).begin(10)
    // A returning visitor has already entered the password.
    expect((await open(code, { visitor })).message).toBe(message)
  })

  it('accepts exactly its maximum number of files when 50 visitors create uploads at once', async () => {
    const link = await create({ maxFiles: 7 })
    const visitors = await Promise.all(Array.from({ length: 50 }, () => enter(link.code)))
    const made = await Promise.all(visitors.map((visitor) => visitor.create(10)))
    const refused = made.filter(({ status }) => status !== 201)
    expect(refused.map(codeOf)).toEqual(Array(43).fill('token_exhausted'))
    expect(await counts(link.id)).toEqual({ filesCreated: 7, bytesCreated: 70, state: 'exhausted' })
    expect((await open(link.code)).upload).toBeNull()
  })

  it('accepts exactly its maximum number of bytes when one visitor creates 50 uploads at once', async () => {
    const link = await create({ maxBytes: 99 })
    const visitor = await enter(link.code)
    const made = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        visitor.create(10, { 'Upload-Metadata': metadata({ filename: `${n}` }) }),
      ),
    )
    expect(made.filter(({ status }) => status === 201)).toHaveLength(9)
    expect(await counts(link.id)).toEqual({ filesCreated: 9, bytesCreated: 90, state: 'open' })
    expect(codeOf(await visitor.create(null))).toBe('forbidden')
  })

  it('counts a creation once if it is repeated because its response was lost', async () => {
    const link = await create({ maxFiles: 1 })
    const visitor = await enter(link.code)
    const named = { 'Upload-Metadata': metadata({ filename: 'a' }) }
    expect((await visitor.create(10, named)).status).toBe(201)
    expect((await visitor.create(10, named)).status).toBe(201)
    expect(await counts(link.id)).toMatchObject({ filesCreated: 1, bytesCreated: 10 })
  })

  it('still counts a canceled upload toward its maximum, as tokens do', async () => {
    const link = await create({ maxFiles: 1 })
    const url = await (await enter(link.code)).begin(10)
    const upload = { fileId: fileIdOf(url), workspaceId: site.workspaceId }
    await cancelUpload(endingContext(site.runtime), upload)
    expect(await counts(link.id)).toMatchObject({ filesCreated: 1 })
  })

  it.each(['closed', 'expired'])(
    'once %s, creates nothing and continues uploads in progress',
    async (state) => {
      const expiresAt = new Date(site.clock.now() + 3600_000).toISOString()
      const link = await create({ password: 'open sesame', expiresAt })
      const visitor = newVisitor()
      const before = await enter(link.code, { visitor, password: 'open sesame' })
      const url = await before.begin(1000)
      await before.patch(url, 0, Buffer.alloc(400))
      if (state === 'closed') await changeUploadLink(site.runtime, site.actor, link.id, { closed: true })
      else site.clock.advance(3600_000)
      expect((await before.create(10)).status).toBe(state === 'closed' ? 403 : 401)
      expect(await open(link.code)).toMatchObject({ state, upload: null })

      const reloaded = await open(link.code, { visitor })
      expect(reloaded).toMatchObject({ state, upload: { mayCreate: false } })
      const after = client(reloaded.upload!.token)
      expect(codeOf(await after.create(10))).toBe('token_exhausted')
      expect(await after.offset(url)).toBe(400)
      expect((await after.patch(url, 400, Buffer.alloc(600))).status).toBe(204)
      expect(await site.statusOf(url)).toBe('transferred')
      expect((await open(link.code, { visitor })).upload).toBeNull()
    },
  )

  it('shows a visitor who returns to a closed link the decision on their file', async () => {
    const decider = await openDecider()
    decider.answer = () => ({ defer: true })
    const hook = { url: decider.url, enabled: true, timeoutSeconds: 1, withoutAnswer: 'refuse' } as const
    const asked = { pipeId: site.pipe.id, hook: 'before_complete' } as const
    await saveHook(site.runtime, site.actor, asked, hook)
    const quick = await serveUploads(site.runtime, { terms: { decideMs: 100, pollMs: 20 } })
    const at = (token: string) => tusClient({ url: quick.url, pipeId: site.pipe.id, token })
    const link = await create()
    const visitor = newVisitor()
    const before = at((await open(link.code, { visitor })).upload!.token)
    const url = await before.begin(1000)
    const sent = await before.patch(url, 0, Buffer.alloc(1000))
    expect([sent.status, sent.headers['upload-offset']]).toEqual([204, '999'])
    await changeUploadLink(site.runtime, site.actor, link.id, { closed: true })
    const returned = await open(link.code, { visitor })
    expect(returned).toMatchObject({ state: 'closed', upload: { mayCreate: false } })
    const decision = { allow: false, reason: 'Not this one.' }
    await decideOnFile(site.runtime, site.actor, fileIdOf(url), decision)
    const told = await at(returned.upload!.token).patch(url, 999, Buffer.alloc(1))
    expect([told.status, JSON.parse(told.body).detail]).toEqual([403, 'Not this one.'])
    await saveHook(site.runtime, site.actor, asked, { ...hook, enabled: false })
    await quick.close()
    await decider.close()
  })

  it('shows its current title as the Sender of its files', async () => {
    const link = await create()
    const change = { title: 'Films for June' }
    await changeUploadLink(site.runtime, site.actor, link.id, change)
    const url = await (await enter(link.code)).begin(10)
    const { sender } = await showFile(site.runtime, site.actor, fileIdOf(url))
    expect(sender).toBe('Films for June')
  })

  it('gives the same response for guessed codes, deleted links and links to a deleted Pipe', async () => {
    const pipe = await createPipe(
      site.runtime,
      site.actor,
      parseInput(pipeInput, { name: 'Old', dataStoreId: site.dataStore.id, source: { http: true } }),
    )
    const ofPipe = await create({ pipeId: pipe.id })
    await deletePipe(site.runtime, site.actor, pipe.id, async () => 0)
    const gone = await create()
    const { upload } = await open(gone.code)
    await deleteUploadLink(site.runtime, site.actor, gone.id)
    const asked = ['A'.repeat(22), '', ofPipe.code, gone.code].map((code) =>
      outcome(open(code, {}, elsewhere())),
    )
    const looks = [ofPipe.code, gone.code].map((code) => outcome(lookAtLink(site.runtime, code, elsewhere())))
    const answers = await Promise.all([...asked, ...looks])
    expect(new Set(answers)).toEqual(
      new Set(['not_found: There is no such upload link. Ask the person who sent it to you for a new one.']),
    )
    expect(codeOf(await client(upload!.token).create(10))).toBe('token_revoked')
  })

  it('limits guessed codes per address, without keeping anyone out of a link', async () => {
    const link = await create()
    const address = elsewhere()
    const guesses: string[] = []
    for (let n = 0; n < 31; n++) guesses.push((await outcome(open(`guess${n}`, {}, address))).split(':')[0]!)
    expect(guesses).toEqual([...Array(30).fill('not_found'), 'rate_limited'])
    expect(await outcome(lookAtLink(site.runtime, 'guess', address))).toMatch(/^rate_limited/)
    expect((await open(link.code, {}, address)).upload).not.toBeNull()
  })

  it('limits wrong passwords per address, without locking out anyone else', async () => {
    const link = await create({ password: 'open sesame' })
    const address = elsewhere()
    expect(await open(link.code, {}, address)).toMatchObject({ hasPassword: true, upload: null })
    const guesses: string[] = []
    for (let n = 0; n < 11; n++)
      guesses.push((await outcome(open(link.code, { password: `guess ${n}` }, address))).split(':')[0]!)
    expect(guesses).toEqual([...Array(10).fill('forbidden'), 'rate_limited'])
    expect(await outcome(open(link.code, { password: 'open sesame' }, address))).toMatch(/^rate_limited/)
    expect((await open(link.code, { password: 'open sesame' }, elsewhere())).upload).not.toBeNull()
  })

  it("issues a token that permits no API operation, no SFTP and no access to others' uploads", async () => {
    const link = await create()
    const [mine, other] = [await enter(link.code), await enter(link.code)]
    const url = await mine.begin(1000)
    const foreign = await client(await site.token()).begin(1000)
    for (const address of [url, foreign]) {
      expect((await other.head(address)).status).toBe(404)
      expect((await other.patch(address, 0, Buffer.alloc(1))).status).toBe(404)
      expect((await other.terminate(address)).status).toBe(404)
    }
    expect((await httpCall({ method: 'GET', url: mine.collection, token: mine.token })).status).toBe(405)
    const allowed: string[] = []
    for (const { id, method, path, auth } of OPERATIONS) {
      if (auth === 'nobody') continue
      const headers = new Headers({
        authorization: `Bearer ${mine.token}`,
        'content-type': 'application/json',
      })
      const address = `http://localhost${`/api/v1${path}`.replaceAll(/\{\w+\}/g, fileIdOf(url))}`
      const body = method === 'GET' ? null : new Response(JSON.stringify({ pipeId: site.pipe.id })).body
      const { status } = await answerRequest(site.runtime, { method, url: address, headers, body })
      if (status < 400) allowed.push(id)
    }
    expect(allowed).toEqual([])
    const signIn = { user: site.pipe.id, password: mine.token, protocol: 'sftp' } as const
    await expect(signInByToken(node.context, signIn)).rejects.toThrow(
      'The user name is not the id of a Pipe, or the password is not an upload token.',
    )
  })
})
