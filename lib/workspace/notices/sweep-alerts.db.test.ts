import { eq } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'
import { dataStores, senderKeys, senders, usageMonths, webhookOutputs } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { days, hours, minutes } from '../../platform/kernel/clock.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { openMailJob } from '../../platform/mail/mail.ts'
import { makeKeyPair } from '../../sftp/make-key-pair.ts'
import { addSenderKey, senderKeyInput } from '../../sftp/sender-keys.ts'
import { createUploadLink, hashingPassword } from '../../upload-links/manage-links.ts'
import { uploadLinkInput } from '../../upload-links/upload-link.ts'
import { saveOutput } from '../../webhooks/outputs/save-output.ts'
import { createSenders } from '../senders/many-senders.ts'
import { listSenders } from '../senders/read-senders.ts'
import { createGroup } from '../senders/sender-groups.ts'
import { listAlerts, listOpenAlerts, readAlertSettings, saveAlertSettings } from './alerts.ts'
import { sweepAlerts } from './sweep-alerts.ts'

describeWithDatabase('alerts', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  beforeEach(async () => {
    runtime = testRuntime(database(), { FREE_TIER_BYTES: '1000' })
    mine = await createTestWorkspace(runtime)
    await database()
      .db.update(senders)
      .set({ lastUsedAt: new Date(runtime.clock.now()) })
  })

  const subjects = () =>
    runtime.jobs.splice(0).flatMap(({ data }) => {
      const job = openMailJob(runtime, data as { sealed: string })
      return job.kind === 'mail' && job.mail.to === mine.email ? [job.mail.subject] : []
    })
  async function told(): Promise<string[]> {
    runtime.jobs.length = 0
    await sweepAlerts(runtime)
    return subjects()
  }
  const use = (usedBytes: number) =>
    database()
      .db.insert(usageMonths)
      .values({ workspaceId: mine.workspaceId, month: '2026-03', usedBytes })
      .onConflictDoUpdate({ target: [usageMonths.workspaceId, usageMonths.month], set: { usedBytes } })
  const setStore = (fields: Partial<typeof dataStores.$inferInsert>) =>
    database().db.update(dataStores).set(fields).where(eq(dataStores.id, mine.dataStore.id))
  const setOutput = (fields: Partial<typeof webhookOutputs.$inferInsert>) =>
    database().db.update(webhookOutputs).set(fields).where(eq(webhookOutputs.pipeId, mine.pipe.id))
  const setSender = (fields: Partial<typeof senders.$inferInsert>) =>
    database().db.update(senders).set(fields).where(eq(senders.id, mine.sender.id))
  const ago = (ms: number) => new Date(runtime.clock.now() - ms)

  it('report 80% and 100% of the quota once each, but not the end of the month', async () => {
    await use(799)
    expect(await told()).toEqual([])
    await use(800)
    expect(await told()).toEqual(['80% of the transfer quota for March 2026 is used'])
    expect(await told()).toEqual([])
    await use(1000)
    expect(await told()).toEqual(['100% of the transfer quota for March 2026 is used'])
    expect(await told()).toEqual([])
    runtime.clock.advance(days(30))
    await setSender({ lastUsedAt: new Date(runtime.clock.now()) })
    expect(await told()).toEqual([])
    expect(await listOpenAlerts(runtime, mine.actor)).toEqual([])
  })

  it('report a jump past both thresholds once', async () => {
    await use(5000)
    expect(await told()).toEqual(['100% of the transfer quota for March 2026 is used'])
    expect(await told()).toEqual([])
  })

  it('report a bucket that has rejected uploads for a minute, and its recovery', async () => {
    await setStore({ rejectingSince: ago(minutes(0.5)), rejection: 'AccessDenied' })
    expect(await told()).toEqual([])
    runtime.clock.advance(minutes(1))
    expect(await told()).toEqual(['The Data Store “Bucket” is rejecting uploads'])
    expect(await told()).toEqual([])
    expect(await listOpenAlerts(runtime, mine.actor)).toMatchObject([{ detail: 'AccessDenied' }])
    await setStore({ rejectingSince: null })
    expect(await told()).toEqual(['All clear: The Data Store “Bucket” accepts uploads again'])
    expect(await told()).toEqual([])
    await setStore({ rejectingSince: ago(minutes(2)) })
    expect(await told()).toEqual(['The Data Store “Bucket” is rejecting uploads'])
    expect(await listAlerts(runtime, mine.actor)).toHaveLength(2)
  })

  it('report an output that has been failing for an hour, then that it was turned off, then that it is on again', async () => {
    const output = { enabled: true, url: 'http://127.0.0.1:1/hook', statuses: ['transferred' as const] }
    await saveOutput(runtime, mine.actor, mine.pipe.id, output)
    await setOutput({ failingSince: ago(minutes(59)) })
    expect(await told()).toEqual([])
    await setOutput({ failingSince: ago(hours(1) + 1) })
    expect(await told()).toEqual(['The webhook for “Photos” has been failing for an hour'])
    await setOutput({ enabled: false, turnedOffAt: ago(0), turnedOffReason: 'It responded with 410.' })
    expect(await told()).toEqual(['The webhook for “Photos” is off'])
    await saveOutput(runtime, mine.actor, mine.pipe.id, output)
    await setOutput({ failingSince: null })
    expect(await told()).toEqual(['All clear: The webhook for “Photos” is on again'])
  })

  it('do not report an output that its owner switched off', async () => {
    const output = { enabled: false, url: 'http://127.0.0.1:1/hook', statuses: ['transferred' as const] }
    await saveOutput(runtime, mine.actor, mine.pipe.id, output)
    expect(await told()).toEqual([])
  })

  it('report a token that has not been used for 90 days, and that it is in use again', async () => {
    await setSender({ lastUsedAt: ago(days(90) + 1) })
    expect(await told()).toEqual(['The token of the Sender “Backend” has not been used for 90 days'])
    await setSender({ lastUsedAt: ago(0) })
    expect(await told()).toEqual(['All clear: The Sender “Backend” is in use again, or no longer exists'])
  })

  it('do not report the token of an upload link, which nobody has, or of a Sender whose SFTP key is in use', async () => {
    const link = await hashingPassword(
      parseInput(uploadLinkInput, { pipeId: mine.pipe.id, title: 'Films for May' }),
    )
    await createUploadLink(runtime, mine.actor, link)
    const publicKey = makeKeyPair('studio').public
    const key = parseInput(senderKeyInput, { name: 'Studio', publicKey })
    const { id } = await addSenderKey(runtime, mine.actor, mine.sender.id, key)
    runtime.clock.advance(days(90) + 1)
    await database()
      .db.update(senderKeys)
      .set({ lastUsedAt: ago(days(1)) })
      .where(eq(senderKeys.id, id))
    expect(await told()).toEqual([])
    runtime.clock.advance(days(90))
    expect(await told()).toEqual(['The token of the Sender “Backend” has not been used for 90 days'])
  })

  it('are sent once, however many nodes run the sweep', async () => {
    await use(900)
    runtime.jobs.length = 0
    await Promise.all([sweepAlerts(runtime), sweepAlerts(runtime), sweepAlerts(runtime)])
    expect(subjects()).toHaveLength(1)
  })

  it('are emailed and shown according to the settings', async () => {
    const all = await readAlertSettings(runtime, mine.actor)
    expect(all.quota_80).toEqual({ mail: true, notice: true })
    await saveAlertSettings(runtime, mine.actor, ['notice:quota_80', 'mail:quota_100'])
    await use(900)
    expect(await told()).toEqual([])
    expect(await listOpenAlerts(runtime, mine.actor)).toMatchObject([{ kind: 'quota_80' }])
    await use(1000)
    expect(await told()).toEqual(['100% of the transfer quota for March 2026 is used'])
    expect(await listOpenAlerts(runtime, mine.actor)).toMatchObject([{ kind: 'quota_80' }])
    expect((await readAlertSettings(runtime, mine.actor)).bucket_rejects).toEqual({
      mail: false,
      notice: false,
    })
  })

  it('report devices that have been silent for too long in one email, and their return', async () => {
    const group = await createGroup(runtime, mine.actor, { name: 'Cameras', silentHours: 2 })
    const names = Array.from({ length: 12 }, (_, n) => `Camera ${n}`)
    await createSenders(runtime, mine.actor, { names, groupId: group.id })
    runtime.clock.advance(hours(2) - 1)
    expect(await told()).toEqual([])
    runtime.clock.advance(1)
    const raised = await told()
    expect(raised).toEqual([
      expect.stringMatching(/^Silent for too long: (Camera \d+, ){9}Camera \d+ and 2 more$/),
    ])
    expect(await told()).toEqual([])
    const open = await listOpenAlerts(runtime, mine.actor)
    expect(open).toHaveLength(3)
    expect(open[0]!.detail).toContain('for 2 hours')
    const { name, id } = (await listSenders(runtime, mine.actor, { limit: 1 })).data[0]!
    await database()
      .db.update(senders)
      .set({ lastFileAt: ago(0) })
      .where(eq(senders.id, id))
    expect(await told()).toEqual([`All clear: No longer silent: ${name}`])
  })
})
