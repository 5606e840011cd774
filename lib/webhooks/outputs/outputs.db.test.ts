import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { auditLog, webhookOutputs } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { sendTestEvent } from '../log/send-test-event.ts'
import { showOutput } from './find-output.ts'
import { saveOutput } from './save-output.ts'
import { openSecrets, revealSecret, rotateSecret } from './signing-secrets.ts'
import { webhookOutputInput } from './webhook-output.ts'

const URL = 'https://hooks.example.com/a'
const HOUR = 3_600_000

describeWithDatabase('webhook outputs', (database) => {
  let runtime: TestRuntime
  let customer: TestWorkspace

  beforeEach(async () => {
    runtime = testRuntime(database(), { ALLOWED_PRIVATE_HOSTS: '' })
    customer = await createTestWorkspace(runtime)
  })
  const save = (input: object, pipeId = customer.pipe.id) =>
    saveOutput(runtime, customer.actor, pipeId, parseInput(webhookOutputInput, input))
  const row = async () =>
    (await runtime.db.select().from(webhookOutputs).where(eq(webhookOutputs.pipeId, customer.pipe.id)))[0]!

  it('returns the secret on creation and never on a change', async () => {
    const created = await save({ url: URL })
    expect(created).toMatchObject({
      enabled: true,
      url: URL,
      statuses: ['transferred'],
      secret: expect.stringMatching(/^whsec_.{44}$/),
    })
    expect(Buffer.from(created.secret!.slice(6), 'base64')).toHaveLength(32)
    expect(await save({ url: `${URL}b`, enabled: false, statuses: ['failed'] })).not.toHaveProperty('secret')
    expect(await showOutput(runtime, customer.actor, { firstOf: customer.pipe.id })).toMatchObject({
      enabled: false,
      url: `${URL}b`,
      statuses: ['transferred', 'failed'],
    })
    expect((await row()).secretEncrypted).not.toContain(created.secret!.slice(6))
  })

  it('creates one output for two simultaneous first calls', async () => {
    const both = await Promise.all([save({ url: URL }), save({ url: `${URL}b` })])
    expect(both.filter(({ secret }) => secret)).toHaveLength(1)
  })

  it.each([
    ['http://hooks.example.com/', 'url is not allowed: hooks.example.com must use https'],
    ['https://127.0.0.1/', 'url is not allowed: 127.0.0.1 is not on the public internet'],
    ['https://2130706433/', 'url is not allowed: 127.0.0.1 is not on the public internet'],
    ['https://169.254.169.254/latest', 'url is not allowed: 169.254.169.254 is reserved'],
    ['hooks.example.com', 'url is not allowed: The address must start with https://.'],
    ['localhost:4567/hooks', 'url is not allowed: The address must start with https://'],
    ['https://', 'url is not allowed: This is not a valid address'],
    ['https://user:pass@hooks.example.com/', 'url is not allowed: Leave the user name and password out'],
    [`https://hooks.example.com/${'x'.repeat(2048)}`, 'url must have at most 2048 characters'],
  ])('refuses the address %s and says why', async (url, words) => {
    await expect(async () => save({ url })).rejects.toThrow(words)
  })

  it('refuses other statuses and unknown fields, and names them', async () => {
    await expect(async () => save({ url: URL, statuses: ['uploading'] })).rejects.toThrow(
      'must be transferred, failed, expired or canceled',
    )
    await expect(async () => save({ url: URL, secret: 'whsec_x' })).rejects.toThrow(
      'secret is not a known field',
    )
  })

  it('signs with the old and the new secret for 24 hours after a rotation', async () => {
    const { secret: old } = await save({ url: URL })
    const { secret, previousSecretUntil } = await rotateSecret(runtime, customer.actor, {
      firstOf: customer.pipe.id,
    })
    const now = runtime.clock.now()
    expect(new Date(previousSecretUntil!).getTime()).toBe(now + 24 * HOUR)
    expect(openSecrets(runtime.vault, await row(), now)).toEqual([secret, old])
    expect(openSecrets(runtime.vault, await row(), now + 24 * HOUR - 1)).toEqual([secret, old])
    expect(openSecrets(runtime.vault, await row(), now + 24 * HOUR)).toEqual([secret])
    expect(await revealSecret(runtime, customer.actor, { firstOf: customer.pipe.id })).toBe(secret)
  })

  it('records every change in the audit log, without secrets', async () => {
    const { secret } = await save({ url: URL })
    await save({ url: URL, enabled: false })
    await rotateSecret(runtime, customer.actor, { firstOf: customer.pipe.id })
    await revealSecret(runtime, customer.actor, { firstOf: customer.pipe.id })
    const log = await runtime.db
      .select()
      .from(auditLog)
      .where(eq(auditLog.subjectId, customer.pipe.id))
      .orderBy(auditLog.id)
    expect(
      log
        .map(({ action }) => action)
        .filter((action) => action.startsWith('webhook.'))
        .sort(),
    ).toEqual(
      ['webhook.created', 'webhook.changed', 'webhook.secret_rotated', 'webhook.secret_revealed'].sort(),
    )
    expect(JSON.stringify(log)).not.toContain(secret!.slice(6))
  })

  it('clears the reason for being off when turned on, and the failures when the address changes', async () => {
    await save({ url: URL })
    const turnedOff = {
      enabled: false,
      turnedOffReason: 'x',
      turnedOffAt: new Date(),
      failingSince: new Date(),
    }
    await runtime.db.update(webhookOutputs).set(turnedOff).where(eq(webhookOutputs.pipeId, customer.pipe.id))
    expect(await save({ url: URL, enabled: false })).toMatchObject({
      turnedOffReason: 'x',
      failingSince: expect.any(String),
    })
    expect(await save({ url: URL })).toMatchObject({
      enabled: true,
      turnedOffReason: null,
      turnedOffAt: null,
      failingSince: null,
    })
    await runtime.db
      .update(webhookOutputs)
      .set({ failingSince: new Date() })
      .where(eq(webhookOutputs.pipeId, customer.pipe.id))
    expect(await save({ url: `${URL}b` })).toMatchObject({ failingSince: null })
  })

  it("accepts the address of Sluice's own inbox, wherever Sluice runs", async () => {
    expect(await save({ url: 'http://localhost:3000/api/inbox/x' })).toMatchObject({ enabled: true })
    await expect(async () => save({ url: 'http://localhost:3001/' })).rejects.toThrow('url is not allowed')
  })

  describe('of another workspace', () => {
    it('are not found', async () => {
      await save({ url: URL })
      const other = (await createTestWorkspace(runtime)).actor
      const absent = { code: 'pipe_not_found' }
      const { id } = customer.pipe
      await expect(showOutput(runtime, other, { firstOf: id })).rejects.toMatchObject(absent)
      await expect(
        saveOutput(runtime, other, id, parseInput(webhookOutputInput, { url: URL })),
      ).rejects.toMatchObject(absent)
      await expect(rotateSecret(runtime, other, { firstOf: id })).rejects.toMatchObject(absent)
      await expect(revealSecret(runtime, other, { firstOf: id })).rejects.toMatchObject(absent)
      await expect(sendTestEvent(runtime, other, { firstOf: id })).rejects.toMatchObject(absent)
    })
  })

  it('are not found before they are created', async () => {
    await expect(showOutput(runtime, customer.actor, { firstOf: customer.pipe.id })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})
