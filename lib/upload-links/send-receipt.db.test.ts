import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { fileIdOf, metadata, tusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { eraseFiles } from '../dashboard/files/act-on-files.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import { type Mail, openMailJob } from '../platform/mail/mail.ts'
import { changeLinkPages } from './link-pages.ts'
import { changeUploadLink, createUploadLink, hashingPassword } from './manage-links.ts'
import { lookAtLink, openLink } from './open-link.ts'
import { receiptInput, sendReceipt } from './send-receipt.ts'
import { uploadLinkInput } from './upload-link.ts'

let people = 0
const newEmail = () => `guest-${++people}@example.com`
let addresses = 0
const newAddress = () => `198.51.100.${++addresses}`

describeWithDatabase('a receipt', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  beforeAll(async () => {
    site = await createSite(database(), { settings: { SMTP_URL: 'smtp://mail.example.com', DEMO: '0' } })
    node = await serveUploads(site.runtime)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })
  beforeEach(() => void site.runtime.jobs.splice(0))

  const create = async (fields: object = {}) => {
    const given = { pipeId: site.pipe.id, title: 'Films for May', receipts: true, ...fields }
    const input = await hashingPassword(parseInput(uploadLinkInput, given))
    return createUploadLink(site.runtime, site.actor, input)
  }
  async function enter(code: string) {
    const visitor = randomBytes(32).toString('base64url')
    const { upload } = await openLink(site.runtime, { code, visitor }, newAddress())
    const client = tusClient({ url: node.url, pipeId: site.pipe.id, token: upload!.token })
    const begin = (filename: string, bytes = 1000, batch = 'drop') =>
      client.begin(bytes, { 'Upload-Metadata': metadata({ filename, batch }) })
    const send = async (filename: string, bytes = 1000, batch = 'drop') => {
      const url = await begin(filename, bytes, batch)
      expect((await client.patch(url, 0, randomBytes(bytes))).status).toBe(204)
      return url
    }
    const ask = (more: object = {}, address = newAddress()) => {
      const fields = { code, visitor, email: newEmail(), language: 'en', batches: ['drop'], ...more }
      return sendReceipt(site.runtime, parseInput(receiptInput, fields), address).then(
        () => 'sent',
        ({ code }) => code,
      )
    }
    return { begin, send, ask }
  }
  const mails = () =>
    site.runtime.jobs.splice(0).map(({ data }) => {
      const job = openMailJob(site.runtime, data as { sealed: string })
      return (job as { mail: Mail }).mail
    })

  it("lists the visitor's files that have arrived, and no others", async () => {
    const { code } = await create()
    const [one, other] = [await enter(code), await enter(code)]
    await one.send('scene', 1500)
    await one.send('take', 2500, 'second drop')
    await one.send('unasked', 10, 'third drop')
    await one.begin('unfinished')
    await eraseFiles(site.runtime, site.actor, [fileIdOf(await one.send('erased'))])
    await other.send('of someone else')
    expect(await one.ask({ email: 'ada@example.com', batches: ['drop', 'second drop'] })).toBe('sent')
    expect(mails()).toEqual([
      {
        to: 'ada@example.com',
        workspaceId: site.workspaceId,
        subject: 'Receipt: Films for May',
        text: expect.stringMatching(
          /^2 files \(4 kB\) arrived through the upload link “Films for May”:\n\n- scene \(1\.5 kB\)\n- take \(2\.5 kB\)\n\nThis address was .*\n\n--\nSluice\n$/,
        ),
      },
    ])
  })

  it('contains nothing that reads as a link, and no endless name, whoever chose it', async () => {
    await changeLinkPages(site.runtime, site.actor, { name: 'Visit acme.example' })
    const { code } = await create({ title: 'See https://evil.example/win' })
    const { send, ask } = await enter(code)
    await send('http://evil.example/a?b=ada@evil.example')
    await send('new\nline\u202e www.evil.example\\x')
    await send('x'.repeat(300))
    expect(await ask()).toBe('sent')
    const [{ subject, text }] = mails() as [Mail]
    expect(subject + text).not.toMatch(/\S[.:/\\@]\S*evil|evil\.|acme\./)
    expect(text.split('\n').slice(2, 5)).toEqual([
      '- http evil example a?b=ada evil example (1 kB)',
      '- newline www evil example x (1 kB)',
      `- ${'x'.repeat(79)}… (1 kB)`,
    ])
    expect(text).toMatch(/\n--\nVisit acme example\n$/)
    await changeLinkPages(site.runtime, site.actor, { name: null })
  })

  it("is in the visitor's language, and counts the files that it does not list", async () => {
    const { code } = await create()
    const { send, ask } = await enter(code)
    for (let n = 0; n < 52; n += 1) await send('a', 1)
    expect(await ask({ language: 'de-AT' })).toBe('sent')
    const [{ subject, text }] = mails() as [Mail]
    expect(subject).toBe('Empfangsbestätigung: Films for May')
    expect(text).toContain('52 Dateien (52 Byte) sind über den Upload-Link „Films for May“ angekommen:')
    expect(text.match(/^- a/gm)).toHaveLength(50)
    expect(text).toContain('- Und 2 weitere.')
  })

  it('is only sent if the link sends receipts, and the visitor has files that arrived', async () => {
    const link = await create()
    const { begin, send, ask } = await enter(link.code)
    await begin('unfinished')
    expect([await ask(), await ask({ batches: ['another'] })]).toEqual(['not_found', 'not_found'])
    await send('scene')
    await changeUploadLink(site.runtime, site.actor, link.id, { receipts: false })
    expect([await ask(), await ask({ code: 'x'.repeat(22) })]).toEqual(['forbidden', 'not_found'])
    expect(mails()).toEqual([])
  })

  it.each([
    ['address', 3, (n: number) => ({ email: n % 2 ? 'Eve@example.com' : 'eve@example.com' }), undefined],
    ['network', 10, () => ({}), '192.0.2.9'],
    ['link', 100, () => ({}), undefined],
  ])('is limited for each %s', async (_, most, fieldsOf, address) => {
    const { code } = await create()
    const { send, ask } = await enter(code)
    await send('scene')
    const outcomes = []
    for (let n = 0; n <= most; n += 1) outcomes.push(await ask(fieldsOf(n), address))
    expect(outcomes).toEqual([...Array(most).fill('sent'), 'rate_limited'])
    expect(mails()).toHaveLength(most)
  })

  it('is not offered by a server that sends no email', async () => {
    const { code } = await create()
    const { runtime } = site
    const unsent = { ...runtime, config: { ...runtime.config, smtpUrl: undefined } }
    expect(await lookAtLink(runtime, code, newAddress())).toMatchObject({ receipts: true })
    expect(await lookAtLink(unsent, code, newAddress())).toMatchObject({ receipts: false })
  })
})
