import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { addMember } from '../../test/support/people.ts'
import { fileIdOf, metadata, tusCall, tusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { createAccount } from '../identity/accounts/users.ts'
import { auditQuery, listAudit } from '../identity/audit/list-audit.ts'
import { removeMember } from '../identity/workspaces/members.ts'
import { minutes } from '../platform/kernel/clock.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import { type Mail, openMailJob } from '../platform/mail/mail.ts'
import {
  changeUploadLink,
  createUploadLink,
  deleteUploadLink,
  hashingPassword,
  listUploadLinks,
} from '../upload-links/manage-links.ts'
import { openLink } from '../upload-links/open-link.ts'
import { uploadLinkInput } from '../upload-links/upload-link.ts'
import { endingContext, endUpload } from '../uploads/endings/end-upload.ts'
import { completeBatches } from './complete-batches.ts'

const BYTES = 1500

describeWithDatabase('an email about files that have arrived', (database) => {
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

  const create = async (notifyEmail: string | null, title = 'Films for May', runtime = site.runtime) => {
    const input = parseInput(uploadLinkInput, { pipeId: site.pipe.id, title, notifyEmail })
    return createUploadLink(runtime, site.actor, await hashingPassword(input))
  }
  const enter = async (code: string) => {
    const visitor = randomBytes(32).toString('base64url')
    const { upload } = await openLink(site.runtime, { code, visitor }, '192.0.2.1')
    const client = tusClient({ url: node.url, pipeId: site.pipe.id, token: upload!.token })
    const begin = (filename = 'scene.mp4', batch = 'drop') =>
      client.begin(BYTES, { 'Upload-Metadata': metadata({ filename, batch }) })
    const send = async (filename?: string, batch?: string) => {
      const url = await begin(filename, batch)
      expect((await client.patch(url, 0, randomBytes(BYTES))).status).toBe(204)
    }
    const seal = (batch = 'drop') =>
      tusCall({
        method: 'POST',
        url: client.collection.replace(/files\/$/, 'batches/seal'),
        token: client.token,
        headers: { 'Upload-Metadata': metadata({ batch }) },
      })
    return { ...client, begin, send, seal }
  }
  async function mails(): Promise<Mail[]> {
    await completeBatches(site.runtime)
    const sealed = site.runtime.jobs.splice(0).filter(({ queue }) => queue === 'mail')
    return sealed.map(({ data }) => {
      const job = openMailJob(site.runtime, data as { sealed: string })
      if (job.kind !== 'mail') throw new Error(job.kind)
      return job.mail
    })
  }

  it('is sent once, when the batch is complete, and says how its files ended in no word of the uploader', async () => {
    const link = await create(site.actor.label)
    const { begin, send, seal, terminate, ...client } = await enter(link.code)
    await send('Win at http://evil.example.mp4')
    await send()
    await terminate(await begin())
    const failing = await begin()
    const last = await begin()
    await seal()
    const end = { status: 'failed', reason: 'for a test', from: ['uploading'] } as const
    await endUpload(endingContext(site.runtime), fileIdOf(failing), end)
    expect(await mails()).toEqual([])
    await client.patch(last, 0, randomBytes(BYTES))
    const [mail, ...others] = await mails()
    expect([mail, others]).toMatchObject([
      { to: site.actor.label, workspaceId: site.workspaceId, subject: '“Films for May”: 3 files arrived' },
      [],
    ])
    const { baseUrl } = site.runtime.config
    const lines = mail!.text.split('\n\n')
    expect(lines.slice(0, 2)).toEqual([
      'Through the upload link “Films for May”, 3 files arrived (4.5 kB).',
      'Did not arrive: 2 files (1 failed, 1 canceled).',
    ])
    expect(lines[2]).toMatch(new RegExp(`^${baseUrl}/dashboard/files\\?batchId=[0-9a-f-]{36}$`))
    expect(lines[3]).toContain(`${baseUrl}/dashboard/pipes/${site.pipe.id}/links`)
    expect(mail!.text).not.toContain('evil')
    expect(await mails()).toEqual([])
  })

  it('says so if no file arrived, and is not sent if the visitor canceled them all', async () => {
    const { code } = await create(site.actor.label)
    const [unlucky, hesitant] = [await enter(code), await enter(code)]
    const end = { status: 'failed', reason: 'for a test', from: ['uploading'] } as const
    await endUpload(endingContext(site.runtime), fileIdOf(await unlucky.begin()), end)
    await hesitant.terminate(await hesitant.begin())
    for (const { seal } of [unlucky, hesitant]) await seal()
    const sent = await mails()
    expect(sent.map(({ subject }) => subject)).toEqual(['“Films for May”: no files arrived'])
    expect(sent[0]!.text).toContain('but none arrived.')
  })

  it('is not sent for a link without an address, after the address was removed, or after the link was deleted', async () => {
    const [silent, muted, deleted] = [
      await create(null),
      await create(site.actor.label),
      await create(site.actor.label),
    ]
    for (const { code } of [silent, muted, deleted]) {
      const { send, seal } = await enter(code)
      await send()
      await seal()
    }
    await changeUploadLink(site.runtime, site.actor, muted.id, { notifyEmail: null })
    await deleteUploadLink({ ...site.runtime, database: database() }, site.actor, deleted.id)
    expect(await mails()).toEqual([])
  })

  it('is only sent to members, and only by a server that sends email', async () => {
    const unsent = { ...site.runtime, config: { ...site.runtime.config, smtpUrl: undefined } }
    const stranger = { email: 'stranger@example.com', passwordHash: null, emailVerified: true }
    await createAccount(site.runtime, stranger)
    const refusal = { code: 'invalid_request', fields: [{ field: 'notifyEmail' }] }
    for (const email of ['nobody@example.com', stranger.email])
      await expect(create(email)).rejects.toMatchObject(refusal)
    await expect(create(site.actor.label, 'Films', unsent)).rejects.toMatchObject(refusal)
    const link = await create(site.actor.label)
    const moved = { notifyEmail: stranger.email }
    await expect(changeUploadLink(site.runtime, site.actor, link.id, moved)).rejects.toMatchObject(refusal)
    const { send, seal } = await enter(link.code)
    await send()
    await seal()
    await completeBatches(unsent)
    expect(site.runtime.jobs).toEqual([])
  })

  it('is not addressed to members who have left, as the link and the audit log say', async () => {
    const { runtime, actor } = site
    const member = await addMember(runtime, site, 'developer')
    const [theirs, other] = [await create(member.label, 'Theirs'), await create(actor.label)]
    await removeMember(runtime, actor, member.id)
    const { data } = await listUploadLinks(runtime, actor, { limit: 100 })
    const addressOf = (link: { id: string }) => data.find(({ id }) => id === link.id)?.notifyEmail
    expect([addressOf(theirs), addressOf(other)]).toEqual([null, actor.label])
    const wanted = parseInput(auditQuery, { action: 'upload_link' })
    const [change] = (await listAudit(runtime, actor, wanted)).data
    expect(change).toMatchObject({ subjectLabel: 'Theirs', detail: { notifyEmail: null } })
  })

  it('is limited for each link', async () => {
    const [busy, other] = [await create(site.actor.label, 'Busy'), await create(site.actor.label, 'Other')]
    const { send, seal } = await enter(busy.code)
    for (let n = 0; n < 22; n += 1) {
      await send('scene.mp4', `drop ${n}`)
      await seal(`drop ${n}`)
    }
    const { send: sendOther, seal: sealOther } = await enter(other.code)
    await sendOther()
    await sealOther()
    const sent = [...(await mails()), ...(await mails())]
    const of = (title: string) => sent.filter(({ subject }) => subject.includes(title)).length
    expect([of('Busy'), of('Other')]).toEqual([20, 1])
    site.clock.advance(minutes(10))
    await send('scene.mp4', 'late')
    await seal('late')
    expect(await mails()).toHaveLength(1)
  })
})
