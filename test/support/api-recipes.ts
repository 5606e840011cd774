import { eq } from 'drizzle-orm'
import { dataStores, fileDestinations, fileTimeline, members, turnedOff } from '#drizzle/schema/index.ts'
import type { Operation } from '#lib/api/operation.ts'
import { OPERATIONS } from '#lib/api/operations.ts'
import { hookInput } from '#lib/hooks/hook.ts'
import { saveHook } from '#lib/hooks/pipe-hooks.ts'
import { createAccountKey, revokeAccountKey } from '#lib/identity/accounts/account-keys.ts'
import { createAccount } from '#lib/identity/accounts/users.ts'
import { invite } from '#lib/identity/workspaces/invitations.ts'
import { createImports } from '#lib/imports/create-imports.ts'
import { importsInput } from '#lib/imports/import.ts'
import { uuidv7 } from '#lib/platform/kernel/ids.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { makeKeyPair } from '#lib/sftp/make-key-pair.ts'
import { addSenderKey, senderKeyInput } from '#lib/sftp/sender-keys.ts'
import { createUploadLink, hashingPassword } from '#lib/upload-links/manage-links.ts'
import { subjectOf } from '#lib/upload-links/open-link.ts'
import { uploadLinkInput } from '#lib/upload-links/upload-link.ts'
import { batchId } from '#lib/uploads/rules/batch.ts'
import { sendTestEvent } from '#lib/webhooks/log/send-test-event.ts'
import { createOutput, saveOutput } from '#lib/webhooks/outputs/save-output.ts'
import { outputInput } from '#lib/webhooks/outputs/webhook-output.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { dataStoreInput } from '#lib/workspace/data-stores/data-store.ts'
import { createGroup } from '#lib/workspace/senders/sender-groups.ts'
import { listTokens } from '#lib/workspace/tokens/given-tokens.ts'
import { issueToken } from '#lib/workspace/tokens/issue-token.ts'
import { tokenInput } from '#lib/workspace/tokens/token.ts'
import type { TestRuntime } from './runtime.ts'
import { sampleOf } from './sample-files.ts'
import { addFile } from './webhook-rows.ts'
import { createTestWorkspace, makeReady } from './workspace.ts'

const VISITOR = 'v'.repeat(43)

/** Creates one object of each kind for one customer. */
export async function furnish(runtime: TestRuntime) {
  const { db } = runtime
  const made = await createTestWorkspace(runtime)
  const { actor, workspaceId, pipe, sender } = made
  const input = parseInput(tokenInput, { pipeId: pipe.id, subject: 'user-1' })
  await issueToken(runtime, sender.token, input)
  const [token] = (await listTokens(runtime, actor, { limit: 1 })).data
  const place = { workspaceId, pipeId: pipe.id }
  const arrived = await addFile(db, place, { tokenId: token!.id, senderId: sender.id })
  const kept = { bucket: 'media', key: `${arrived}/a film.mp4`, status: 'transferred' as const, etag: '"e"' }
  await db.insert(fileDestinations).values({ fileId: arrived, dataStoreId: made.dataStore.id, ...kept })
  const at = new Date(runtime.clock.now())
  await db.insert(fileTimeline).values({ id: uuidv7(), fileId: arrived, kind: 'created', at })
  const underWay = await addFile(db, place, { status: 'uploading', offsetBytes: 5 })
  const undecided = await addFile(db, place, { status: 'transferring', offsetBytes: 5, decision: 'asked' })
  const hook = parseInput(hookInput, { url: 'http://127.0.0.1:1/decide' })
  await saveHook(runtime, actor, { pipeId: pipe.id, hook: 'before_complete' }, hook)
  const given = parseInput(outputInput, { url: 'http://127.0.0.1:1/hook' })
  const output = await saveOutput(runtime, actor, pipe.id, given)
  const ofAll = await createOutput(runtime, actor, {}, given)
  const publicKey = makeKeyPair().public
  const ofPartner = parseInput(senderKeyInput, { name: 'Partner', publicKey })
  const senderKey = await addSenderKey(runtime, actor, sender.id, ofPartner)
  const senderGroup = await createGroup(runtime, actor, { name: 'Cameras', sources: ['ftp'] })
  const delivery = await sendTestEvent(runtime, actor, { outputId: output.id })
  const entered = { name: 'Spare', provider: 'minio', endpoint: 'http://127.0.0.1:1', bucket: 'spare' }
  const keys = { accessKeyId: 'KEY', secretAccessKey: 'a-secret' }
  const spare = await createDataStore(runtime, actor, parseInput(dataStoreInput, { ...entered, ...keys }))
  await makeReady(db, made.dataStore)
  const files = [{ url: 'https://files.example.com/one.mp4' }]
  const importing = parseInput(importsInput, { pipeId: pipe.id, files, batch: 'order-17' })
  const [imported] = await createImports(runtime, sender.token, importing)
  const batch = batchId({
    pipeId: pipe.id,
    senderId: sender.id,
    subject: null,
    name: 'order-17',
    byToken: true,
  })
  const linked = await hashingPassword(
    parseInput(uploadLinkInput, { pipeId: pipe.id, title: 'Films for May', receipts: true }),
  )
  const link = await createUploadLink(runtime, actor, linked)
  const sent = {
    pipeId: pipe.id,
    senderId: link.senderId,
    subject: subjectOf(VISITOR),
    name: 'drop',
    byToken: false,
  }
  await addFile(db, place, { batchId: batchId(sent) })
  const off = await createAccountKey(runtime, actor, { name: 'Of a stranger' })
  await revokeAccountKey(runtime, actor, off.id)
  const was = { workspaceId, kind: 'account_key' as const, subjectId: off.id, turnedOffAt: at }
  await db.insert(turnedOff).values(was)
  const invitation = await invite(runtime, actor, { email: `guest-of-${made.email}`, role: 'viewer' })
  const colleague = { email: `colleague-of-${made.email}`, passwordHash: null, emailVerified: true }
  const { userId: colleagueId } = await createAccount(runtime, colleague)
  await db.insert(members).values({ workspaceId, userId: colleagueId, role: 'viewer' })
  const lacking = {
    id: await addFile(db, place, { status: 'partially_transferred' }),
    destinationId: spare.id,
  }
  await db.update(dataStores).set({ mayRead: true }).where(eq(dataStores.id, made.dataStore.id))
  const copy = { fileId: lacking.id, bucket: 'media', key: 'copied' }
  await db.insert(fileDestinations).values([
    {
      ...copy,
      dataStoreId: made.dataStore.id,
      position: 1,
      required: true,
      status: 'transferred',
      etag: '"e"',
    },
    { ...copy, dataStoreId: spare.id, position: 2, required: false, status: 'failed', reason: 'rejected' },
  ])
  return {
    ...made,
    lacking,
    senderKey,
    senderGroup,
    invitation,
    colleagueId,
    off,
    spare,
    token: token!,
    arrived,
    underWay,
    imported: imported!,
    batch,
    link,
    undecided,
    output,
    ofAll,
    delivery,
  }
}
export type Furnished = Awaited<ReturnType<typeof furnish>>

export type Recipe = {
  params?: Record<string, string>
  query?: Record<string, string>
  body?: object
  key?: string
}

/** How to call each operation successfully. Operations that delete or revoke something come after all that need it. */
export const RECIPES: Record<string, (mine: Furnished) => Recipe> = {
  issueToken: (mine) => ({ body: { pipeId: mine.pipe.id, maxFiles: 2 }, key: mine.sender.token }),
  createUpload: (mine) => ({
    body: { pipeId: mine.pipe.id, filename: 'film.mp4', size: 5 },
    key: mine.sender.token,
  }),
  sealNamedBatch: (mine) => ({
    body: { pipeId: mine.pipe.id, batch: 'order-17' },
    key: mine.sender.token,
  }),
  showBatch: (mine) => ({ params: { id: mine.batch } }),
  sealBatch: (mine) => ({ params: { id: mine.batch } }),
  createUploadLink: (mine) => ({
    body: { pipeId: mine.pipe.id, title: 'Drop box', password: 'open sesame', maxFiles: 3 },
  }),
  listUploadLinks: (mine) => ({ query: { pipeId: mine.pipe.id } }),
  showUploadLink: (mine) => ({ params: { id: mine.link.id } }),
  changeUploadLink: (mine) => ({ params: { id: mine.link.id }, body: { message: 'Thanks', closed: false } }),
  openUploadLink: (mine) => ({ body: { code: mine.link.code, visitor: VISITOR } }),
  sendReceipt: (mine) => ({
    body: {
      code: mine.link.code,
      visitor: VISITOR,
      email: 'ada@example.com',
      language: 'de',
      batches: ['drop'],
    },
  }),
  deleteUploadLink: (mine) => ({ params: { id: mine.link.id } }),
  createImport: (mine) => ({
    body: { pipeId: mine.pipe.id, url: 'https://files.example.com/film.mp4', headers: { 'X-Key': 'secret' } },
    key: mine.sender.token,
  }),
  createImports: (mine) => ({
    body: {
      pipeId: mine.pipe.id,
      files: [{ url: 'https://files.example.com/a' }, { url: 'https://files.example.com/b' }],
    },
    key: mine.sender.token,
  }),
  showImport: (mine) => ({ params: { id: mine.imported }, key: mine.sender.token }),
  cancelImport: (mine) => ({ params: { id: mine.imported }, key: mine.sender.token }),
  listTokens: (mine) => ({ query: { pipeId: mine.pipe.id, senderId: mine.sender.id, limit: '1' } }),
  revokeToken: (mine) => ({ params: { id: mine.token.id } }),
  // A changed Data Store must be checked again before it is read.
  repairDestination: (mine) => ({
    params: { id: mine.lacking.id, destinationId: mine.lacking.destinationId },
  }),
  createDataStore: () => ({
    body: {
      name: 'Another bucket',
      provider: 'other',
      endpoint: 'http://127.0.0.1:1',
      bucket: 'media',
      accessKeyId: 'KEY',
      secretAccessKey: 'a-secret',
      encryption: { type: 'SSE-KMS', keyId: 'arn:aws:kms:eu-central-1:1:key/2' },
    },
  }),
  listDataStores: () => ({}),
  showDataStore: (mine) => ({ params: { id: mine.dataStore.id } }),
  updateDataStore: (mine) => ({
    params: { id: mine.spare.id },
    body: { name: 'Renamed', endpoint: 'http://127.0.0.1:1' },
  }),
  checkDataStore: (mine) => ({ params: { id: mine.dataStore.id } }),
  createPipe: (mine) => ({
    body: { name: 'Another', dataStoreId: mine.dataStore.id, allowedOrigins: ['https://www.example.com/'] },
  }),
  listPipes: () => ({ query: { limit: '100' } }),
  showPipe: (mine) => ({ params: { id: mine.pipe.id } }),
  updatePipe: (mine) => ({
    params: { id: mine.pipe.id },
    body: { source: { http: true }, maxFileBytes: 1000 },
  }),
  createSender: () => ({ body: { name: 'Another' } }),
  listSenders: () => ({}),
  showSender: (mine) => ({ params: { id: mine.sender.id } }),
  renameSender: (mine) => ({ params: { id: mine.sender.id }, body: { name: 'Renamed' } }),
  addSenderKey: (mine) => ({
    params: { id: mine.sender.id },
    body: { name: 'Partner', publicKey: makeKeyPair().public },
  }),
  listSenderKeys: (mine) => ({ params: { id: mine.sender.id } }),
  rotateSender: (mine) => ({ params: { id: mine.sender.id }, body: { overlapDays: 7 } }),
  limitSender: (mine) => ({ params: { id: mine.sender.id }, body: { pipeIds: [mine.pipe.id] } }),
  createSenders: (mine) => ({ body: { names: ['Camera 1', 'Camera 2'], groupId: mine.senderGroup.id } }),
  createSenderGroup: () => ({ body: { name: 'Scanners', silentHours: 24 } }),
  listSenderGroups: () => ({}),
  showSenderGroup: (mine) => ({ params: { id: mine.senderGroup.id } }),
  changeSenderGroup: (mine) => ({ params: { id: mine.senderGroup.id }, body: { pipeIds: [mine.pipe.id] } }),
  rotateSenderGroup: (mine) => ({ params: { id: mine.senderGroup.id }, body: { overlapDays: 7 } }),
  moveSenderGroup: (mine) => ({ params: { id: mine.senderGroup.id }, body: { groupId: null } }),
  revokeSenderGroup: (mine) => ({ params: { id: mine.senderGroup.id } }),
  saveWebhookOutput: (mine) => ({ params: { id: mine.pipe.id }, body: { url: 'http://127.0.0.1:1/hook' } }),
  showWebhookOutput: (mine) => ({ params: { id: mine.pipe.id } }),
  rotateWebhookSecret: (mine) => ({ params: { id: mine.pipe.id } }),
  sendTestEvent: (mine) => ({ params: { id: mine.pipe.id } }),
  showMissedEvents: (mine) => ({ params: { id: mine.pipe.id } }),
  sendMissedEvents: (mine) => ({ params: { id: mine.pipe.id }, body: { since: '2026-01-01T00:00:00Z' } }),
  discardMissedEvents: (mine) => ({ params: { id: mine.pipe.id } }),
  createOutput: () => ({
    body: {
      url: 'http://127.0.0.1:1/hook',
      name: 'Chat',
      events: ['usage.threshold'],
      headers: { 'X-Key': 'k' },
    },
  }),
  listOutputs: () => ({}),
  createPipeOutput: (mine) => ({
    params: { id: mine.pipe.id },
    body: { url: 'http://127.0.0.1:1/hook', statuses: ['failed'] },
  }),
  listPipeOutputs: (mine) => ({ params: { id: mine.pipe.id } }),
  showOutput: (mine) => ({ params: { id: mine.output.id } }),
  changeOutput: (mine) => ({ params: { id: mine.output.id }, body: { name: 'Renamed' } }),
  rotateOutputSecret: (mine) => ({ params: { id: mine.ofAll.id } }),
  testOutput: (mine) => ({ params: { id: mine.output.id }, body: { event: 'file.created' } }),
  showMissedOfOutput: (mine) => ({ params: { id: mine.output.id } }),
  sendMissedToOutput: (mine) => ({ params: { id: mine.output.id }, body: {} }),
  discardMissedOfOutput: (mine) => ({ params: { id: mine.output.id } }),
  deleteOutput: (mine) => ({ params: { id: mine.ofAll.id } }),
  saveHook: (mine) => ({
    params: { id: mine.pipe.id, hook: 'before_create' },
    body: { url: 'http://127.0.0.1:1/decide', withoutAnswer: 'allow' },
  }),
  listHooks: (mine) => ({ params: { id: mine.pipe.id } }),
  rotateHookSecret: (mine) => ({ params: { id: mine.pipe.id, hook: 'before_complete' } }),
  testHook: (mine) => ({ params: { id: mine.pipe.id, hook: 'before_complete' } }),
  deleteHook: (mine) => ({ params: { id: mine.pipe.id, hook: 'before_complete' } }),
  decideOnFile: (mine) => ({ params: { id: mine.undecided }, body: { allow: true, result: { n: 1 } } }),
  listDeliveries: (mine) => ({ query: { outputId: mine.output.id } }),
  showDelivery: (mine) => ({ params: { id: mine.delivery.id } }),
  resendDelivery: (mine) => ({ params: { id: mine.delivery.id } }),
  resendFailed: (mine) => ({ body: { since: '2026-01-01T00:00:00Z', pipeId: mine.pipe.id } }),
  streamEvents: (mine) => ({ query: { pipeId: mine.pipe.id } }),
  listFiles: () => ({
    query: { status: 'transferred', filename: 'FILM', createdAfter: '2026-01-01T00:00:00Z' },
  }),
  showFile: (mine) => ({ params: { id: mine.arrived } }),
  cancelFile: (mine) => ({ params: { id: mine.underWay } }),
  eraseFile: (mine) => ({ params: { id: mine.arrived } }),
  reportUsage: () => ({ query: { month: '2026-02' } }),
  createAccountKey: () => ({ body: { name: 'Another' } }),
  listAccountKeys: () => ({}),
  listTurnedOff: () => ({}),
  switchOn: (mine) => ({ params: { id: mine.off.id } }),
  showLinkPages: () => ({}),
  changeLinkPages: () => ({ body: { name: 'Acme Films' } }),
  saveLogo: () => ({ body: { image: sampleOf('png').toString('base64') } }),
  removeLogo: () => ({}),
  showLinkHost: () => ({}),
  checkLinkHost: () => ({}),
  saveLinkHost: () => ({ body: { host: 'files.example.com' } }),
  showWorkspace: () => ({}),
  changeWorkspace: () => ({ body: { name: 'Renamed' } }),
  showAlertSettings: () => ({}),
  changeAlertSettings: () => ({ body: { quota_80: { mail: false } } }),
  lockConfiguration: (mine) => ({ body: { holder: mine.workspaceId } }),
  unlockConfiguration: (mine) => ({ body: { holder: mine.workspaceId } }),
  listAudit: () => ({}),
  listMembers: () => ({}),
  changeRole: (mine) => ({ params: { id: mine.colleagueId }, body: { role: 'developer' } }),
  invite: () => ({ body: { email: 'another-guest@example.com', role: 'developer' } }),
  listInvitations: () => ({}),
  resendInvitation: (mine) => ({ params: { id: mine.invitation.id } }),
  openApi: () => ({}),
  withdrawInvitation: (mine) => ({ params: { id: mine.invitation.id } }),
  removeMember: (mine) => ({ params: { id: mine.colleagueId } }),
  removeSenderKey: (mine) => ({ params: { id: mine.sender.id, keyId: mine.senderKey.id } }),
  deleteSenderGroup: (mine) => ({ params: { id: mine.senderGroup.id } }),
  revokeSender: (mine) => ({ params: { id: mine.sender.id } }),
  deletePipe: (mine) => ({ params: { id: mine.pipe.id } }),
  deleteDataStore: (mine) => ({ params: { id: mine.spare.id } }),
  revokeAccountKey: (mine) => ({ params: { id: mine.accountKey.id } }),
}

/** The request that a client would send to call an operation. */
export function request({ method, path, auth }: Operation, recipe: Recipe, key: string | undefined): Request {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => recipe.params![name]!)
  const bearer = auth === 'nobody' ? undefined : key
  return new Request(`http://localhost:3000/api/v1${filled}?${new URLSearchParams(recipe.query)}`, {
    method,
    headers: {
      ...(bearer && { Authorization: `Bearer ${bearer}` }),
      ...(recipe.body && { 'Content-Type': 'application/json' }),
    },
    ...(recipe.body && { body: JSON.stringify(recipe.body) }),
  })
}

export const byId = (id: string) => OPERATIONS.find((operation) => operation.id === id)!
