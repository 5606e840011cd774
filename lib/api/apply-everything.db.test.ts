import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { members } from '#drizzle/schema/index.ts'
import { writeDocument } from '../../packages/cli/src/apply/document.ts'
import { toDocument } from '../../packages/cli/src/apply/export.ts'
import { readWorkspace } from '../../packages/cli/src/apply/workspace.ts'
import { apply, emptyWorkspace, planOf } from '../../test/support/apply-configuration.ts'
import { ACCOUNT_KEY, makeSas } from '../../test/support/azure-signatures.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { makeKeyFile } from '../../test/support/google-cloud.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { createAccount } from '../identity/accounts/users.ts'
import { OPERATIONS } from './operations.ts'

/**
 * A configuration file can contain everything that can be configured: each operation that changes something either sets
 * a part of the file, or is listed below with the reason why it does not. The file below has a value for every field
 * that the operations accept.
 */
const SETTINGS = { ASSUME_ROLES: '1' }
const SETS: Record<string, string> = {
  createDataStore: 'dataStores',
  updateDataStore: 'dataStores',
  createPipe: 'pipes',
  updatePipe: 'pipes',
  createSender: 'senders',
  renameSender: 'senders',
  createOutput: 'outputs',
  createPipeOutput: 'outputs',
  saveWebhookOutput: 'outputs',
  saveHook: 'hooks',
  changeOutput: 'outputs',
  invite: 'people',
  changeRole: 'people',
  changeAlertSettings: 'alerts',
  changeWorkspace: 'workspace',
  changeLinkPages: 'linkPages',
}

const WITH_PRUNE = 'deletes items that the file does not list'
const SECRET = 'creates or revokes a secret, which cannot be exported'
const PUBLIC_KEY = 'manages the keys of people or partners, which change more often than the file'
const FLEET = 'manages devices, which change more often than the file'
const ACT = 'is a one-time action'
const LOCK = 'manages the lock of sluice apply itself'
const IMAGE = 'an image, which a text file does not contain'
const SETS_NOTHING: Record<string, string> = {
  deleteDataStore: WITH_PRUNE,
  deletePipe: WITH_PRUNE,
  deleteOutput: WITH_PRUNE,
  deleteHook: WITH_PRUNE,
  revokeSender: WITH_PRUNE,
  removeMember: WITH_PRUNE,
  withdrawInvitation: WITH_PRUNE,
  issueToken: SECRET,
  revokeToken: SECRET,
  rotateSender: SECRET,
  rotateWebhookSecret: SECRET,
  rotateOutputSecret: SECRET,
  rotateHookSecret: SECRET,
  addSenderKey: PUBLIC_KEY,
  removeSenderKey: PUBLIC_KEY,
  limitSender: FLEET,
  createSenders: FLEET,
  createSenderGroup: FLEET,
  changeSenderGroup: FLEET,
  deleteSenderGroup: FLEET,
  rotateSenderGroup: FLEET,
  revokeSenderGroup: FLEET,
  moveSenderGroup: FLEET,
  createUploadLink: SECRET,
  changeUploadLink: 'changes an item with a secret, which cannot be exported',
  deleteUploadLink: SECRET,
  openUploadLink: ACT,
  sendReceipt: ACT,
  createAccountKey: SECRET,
  revokeAccountKey: SECRET,
  checkDataStore: ACT,
  sendTestEvent: ACT,
  testOutput: ACT,
  testHook: ACT,
  sendMissedEvents: ACT,
  sendMissedToOutput: ACT,
  discardMissedEvents: ACT,
  discardMissedOfOutput: ACT,
  resendDelivery: ACT,
  resendFailed: ACT,
  createUpload: ACT,
  sealNamedBatch: ACT,
  sealBatch: ACT,
  createImport: ACT,
  createImports: ACT,
  cancelImport: ACT,
  cancelFile: ACT,
  decideOnFile: ACT,
  eraseFile: ACT,
  repairDestination: ACT,
  switchOn: ACT,
  resendInvitation: ACT,
  saveLogo: IMAGE,
  removeLogo: IMAGE,
  saveLinkHost: 'a name that takes effect once it is verified in DNS',
  checkLinkHost: ACT,
  lockConfiguration: LOCK,
  unlockConfiguration: LOCK,
}

/** Each field has a value that differs from its default. */
const EVERYTHING = `
version: 1
workspace: { name: Films, requireSecondFactor: true }
linkPages: { name: Acme Films, color: "#6d28d9", text: Questions? Ask Ada. }
dataStores:
  - name: archive
    provider: other
    endpoint: https://s3.example.com
    region: eu-west-1
    bucket: films-archive
    prefix: masters/
    forcePathStyle: false
    storageClass: STANDARD_IA
    encryption: { type: SSE-S3 }
    accessKeyId: AKIAEXAMPLE
    secretAccessKey: \${ARCHIVE_SECRET_ACCESS_KEY}
  - name: copies
    provider: other
    endpoint: https://s3.example.net
    region: us-east-1
    bucket: films-copies
    accessKeyId: AKIAEXAMPLE
    secretAccessKey: \${COPIES_SECRET_ACCESS_KEY}
  - name: google
    provider: gcs
    bucket: films-google
    serviceAccountKey: \${GOOGLE_SERVICE_ACCOUNT_KEY}
  - name: key
    provider: azure
    endpoint: https://acmemedia.blob.core.windows.net
    bucket: films-copies
    storageAccountKey: \${KEY_STORAGE_ACCOUNT_KEY}
  - name: role
    provider: minio
    endpoint: https://minio.internal
    region: us-east-1
    bucket: films
    federation: { role: 'arn:aws:iam::123456789012:role/sluice' }
  - name: role-of-server
    provider: minio
    endpoint: https://minio.internal
    region: us-east-1
    bucket: films
    assumedRole: arn:aws:iam::123456789012:role/sluice
  - name: sas
    provider: azure
    endpoint: https://acmemedia.blob.core.windows.net
    bucket: films
    sasToken: \${SAS_SAS_TOKEN}
pipes:
  - name: films
    destinations: [{ dataStore: archive }, { dataStore: copies, required: false }]
    source: { http: true, url: true, sftp: true }
    keyTemplate: "{yyyy}/{file_id}/{filename}"
    maxFileBytes: 5000000000
    allowedTypes: [video/mp4, image/*]
    allowedOrigins: [https://www.example.com]
    uploadExpirySeconds: 86400
    requireSubject: true
    verifyContent: true
    computeSha256: true
    object:
      metadata: { reel: "{filename}" }
      cacheControl: public, max-age=3600
      contentDisposition: attachment
      tags: { team: films }
      tokensMaySet: [tags]
    outputs:
      - name: backend
        enabled: false
        url: https://example.com/hooks
        statuses: [transferred, failed]
        events: [file.created]
        headers: { X-Api-Key: "\${FILMS_BACKEND_X_API_KEY}" }
    hooks:
      - { hook: before_create, url: https://example.com/name, enabled: false, timeoutSeconds: 10, withoutAnswer: allow }
      - { hook: before_complete, url: https://example.com/scan, enabled: false, timeoutSeconds: 30, withoutAnswer: allow }
  - name: stills
    dataStore: copies
    outputs: []
senders:
  - name: app
  - name: website
outputs:
  - name: audit
    enabled: false
    url: https://example.com/audit
    statuses: [transferred, failed]
    events: [file.created, usage.threshold]
    headers: { Authorization: "\${WORKSPACE_AUDIT_AUTHORIZATION}" }
people:
  - { email: ada@example.com, role: admin }
  - { email: linus@example.com, role: viewer }
alerts:
  quota_80: { mail: false }
  quota_100: { notice: false }
  bucket_rejects: { mail: false }
  output_off: { mail: false }
  output_failing: { mail: false }
  hook_failing: { mail: false }
  copies_missing: { mail: false }
  token_unused: { mail: false, notice: false }
  sender_silent: { mail: false }
`

type Fields = Record<string, unknown>
const everything = parse(EVERYTHING) as Record<string, Fields[] | Fields>
const hooks = (everything.pipes as Fields[]).flatMap((pipe) => (pipe.hooks ?? []) as Fields[])
const parts: typeof everything = { ...everything, hooks }
const inFile = (part: string): string[] => [parts[part]!].flat().flatMap((thing) => Object.keys(thing))
const CHANGING = OPERATIONS.filter(({ method }) => method !== 'GET')

it('covers every operation that changes something, or has a reason not to', () => {
  const known = [...Object.keys(SETS), ...Object.keys(SETS_NOTHING)].sort()
  expect(known).toEqual(CHANGING.map(({ id }) => id).sort())
})

it.each(Object.entries(SETS))('has a value in the file for every field that %s accepts', (id, part) => {
  const { body } = CHANGING.find((one) => one.id === id)!
  const { properties } = z.toJSONSchema(body!, { io: 'input', unrepresentable: 'any' })
  const ofApi = Object.keys(properties!).map((field) => (field === 'dataStoreId' ? 'dataStore' : field))
  expect(inFile(part)).toEqual(expect.arrayContaining(ofApi))
})

describeWithDatabase('a configuration file with everything', (database) => {
  it('is the same after being applied to an empty workspace, exported, applied to another one and exported again', async () => {
    const runtime = testRuntime(database(), SETTINGS)
    const [one, two] = [await emptyWorkspace(runtime), await emptyWorkspace(runtime)]
    const secrets: string[] = []
    const env = Object.fromEntries(
      Array.from(EVERYTHING.matchAll(/\$\{(\w+)\}/g), ([, name]) => [name!, 'a-secret']),
    )
    env.GOOGLE_SERVICE_ACCOUNT_KEY = JSON.stringify(makeKeyFile().file)
    env.SAS_SAS_TOKEN = makeSas()
    env.KEY_STORAGE_ACCOUNT_KEY = ACCOUNT_KEY
    await apply(one, EVERYTHING, { env })
    expect((await planOf(one, EVERYTHING, { env })).plan).toMatchObject({ steps: [], unlisted: [] })

    const exported = writeDocument(toDocument(await readWorkspace(one), secrets))
    expect(secrets.sort()).toEqual(Object.keys(env).sort())
    expect(exported).not.toMatch(/a-secret|PRIVATE KEY/)
    expect(parse(exported)).toMatchObject(everything)

    await apply(two, exported, { env })
    expect(writeDocument(toDocument(await readWorkspace(two), []))).toBe(exported)
  })

  it('leaves Senders in groups alone, because they are devices', async () => {
    const runtime = testRuntime(database(), SETTINGS)
    const sluice = await emptyWorkspace(runtime)
    const { id: groupId } = await sluice.createSenderGroup({ name: 'Cameras' })
    await sluice.createSenders({ names: ['Camera 1', 'Camera 2'], groupId })
    expect((await apply(sluice, 'version: 1\nsenders: [{ name: app }]', { prune: true })).steps).toEqual([
      'create sender app',
    ])
    expect((await readWorkspace(sluice)).senders.map(({ name }) => name)).toEqual(['app'])
    expect((await sluice.showSenderGroup({ id: groupId })).senderCount).toBe(2)
  })

  it('invites people, changes their roles, and removes them with --prune, but never an owner', async () => {
    const runtime = testRuntime(database(), SETTINGS)
    const sluice = await emptyWorkspace(runtime)
    const file = (people: string) => `version: 1\npeople: [${people}]`
    const both = file('{ email: Ada@example.com, role: viewer }, { email: linus@example.com, role: viewer }')
    const linus = { email: 'linus@example.com', passwordHash: null, emailVerified: true }
    const { userId } = await createAccount(runtime, linus)
    const { workspaceId } = sluice.actor
    await runtime.db.insert(members).values({ workspaceId, userId, role: 'viewer' })
    expect((await apply(sluice, both)).steps).toEqual(['create person ada@example.com'])
    const promoted = both.replaceAll('viewer', 'developer')
    expect((await apply(sluice, promoted)).steps).toEqual([
      'change person ada@example.com',
      'change person linus@example.com',
    ])
    expect((await planOf(sluice, promoted)).plan).toMatchObject({ steps: [], unlisted: [] })
    expect((await apply(sluice, file(''), { prune: true })).steps).toEqual([
      'delete person linus@example.com',
      'delete person ada@example.com',
    ])
    expect((await readWorkspace(sluice)).people).toMatchObject([{ fields: { role: 'owner' } }])
    await expect(apply(sluice, file('{ email: x@example.com, role: owner }'))).rejects.toThrow(
      'requires those of an owner',
    )
  })

  it('can require a second factor, but not lift the requirement, which only an owner can do', async () => {
    const sluice = await emptyWorkspace(testRuntime(database(), SETTINGS))
    await apply(sluice, 'version: 1\nworkspace: { requireSecondFactor: true }')
    const ended = apply(sluice, 'version: 1\nworkspace: { requireSecondFactor: false }')
    await expect(ended).rejects.toThrow('this requires those of an owner')
    expect(await sluice.showWorkspace()).toMatchObject({ requireSecondFactor: true })
  })

  it('changes only the hook settings that it contains, and deletes unlisted hooks with --prune', async () => {
    const sluice = await emptyWorkspace(testRuntime(database(), SETTINGS))
    const file = (hooks: string) => `version: 1
dataStores:
  - { name: store, provider: other, endpoint: https://s3.example.com, region: eu, bucket: films, accessKeyId: A, secretAccessKey: S }
pipes: [{ name: films, dataStore: store, hooks: [${hooks}] }]`
    const hook = 'hook: before_create, url: https://example.com/a'
    await apply(sluice, file(`{ ${hook}, timeoutSeconds: 9 }`))
    expect((await apply(sluice, file(`{ ${hook}, withoutAnswer: allow }`))).steps).toEqual([
      'change hook before_create',
    ])
    const [pipe] = (await readWorkspace(sluice)).pipes
    expect(pipe!.hooks).toMatchObject([{ fields: { timeoutSeconds: 9, withoutAnswer: 'allow' } }])
    expect((await apply(sluice, file(''), { prune: true })).steps).toEqual(['delete hook before_create'])
    expect((await readWorkspace(sluice)).pipes[0]!.hooks).toEqual([])
  })
})
