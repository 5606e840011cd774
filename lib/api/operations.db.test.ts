import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fileDestinations, fileTimeline } from '#drizzle/schema/index.ts'
import { onBothDatabases } from '../../e2e/parts/databases.ts'
import { type TestRuntime, testRuntime } from '../../e2e/parts/runtime.ts'
import { addFile } from '../../e2e/parts/webhook-rows.ts'
import { createTestWorkspace } from '../../e2e/parts/workspace.ts'
import { createDataStore } from '../data-stores/create-data-store.ts'
import { dataStoreInput } from '../data-stores/data-store.ts'
import { minutes } from '../kernel/clock.ts'
import { uuidv7 } from '../kernel/ids.ts'
import { parseInput } from '../kernel/parse-input.ts'
import { previewPipeDeletion } from '../pipes/delete-pipe.ts'
import { issueToken } from '../tokens/issue-token.ts'
import { listTokens } from '../tokens/list-tokens.ts'
import { tokenInput } from '../tokens/token.ts'
import { revealSecret } from '../webhooks/reveal-secret.ts'
import { saveOutput } from '../webhooks/save-output.ts'
import { sendTestEvent } from '../webhooks/send-test-event.ts'
import { handleApiRequest } from './handle-request.ts'
import { openApiDocument } from './open-api-document.ts'
import type { Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'

/** One of everything, of one customer. */
async function furnish(runtime: TestRuntime) {
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
  const output = { enabled: true, url: 'http://127.0.0.1:1/hook', statuses: ['transferred' as const] }
  await saveOutput(runtime, actor, pipe.id, output)
  const delivery = await sendTestEvent(runtime, actor, pipe.id)
  const entered = { name: 'Spare', provider: 'minio', endpoint: 'http://127.0.0.1:1', bucket: 'spare' }
  const keys = { accessKeyId: 'KEY', secretAccessKey: 'a-secret' }
  const spare = await createDataStore(runtime, actor, parseInput(dataStoreInput, { ...entered, ...keys }))
  return { ...made, spare, token: token!, arrived, underWay, delivery }
}
type Furnished = Awaited<ReturnType<typeof furnish>>

type Recipe = { params?: Record<string, string>; query?: Record<string, string>; body?: object; key?: string }

/** How to call each operation with success. Those that end something stand where nothing needs it any more. */
const RECIPES: Record<string, (mine: Furnished) => Recipe> = {
  issueToken: (mine) => ({ body: { pipeId: mine.pipe.id, maxFiles: 2 }, key: mine.sender.token }),
  listTokens: (mine) => ({ query: { pipeId: mine.pipe.id, senderId: mine.sender.id, limit: '1' } }),
  revokeToken: (mine) => ({ params: { id: mine.token.id } }),
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
    params: { id: mine.dataStore.id },
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
  rotateSender: (mine) => ({ params: { id: mine.sender.id }, body: { overlapDays: 7 } }),
  saveWebhookOutput: (mine) => ({ params: { id: mine.pipe.id }, body: { url: 'http://127.0.0.1:1/hook' } }),
  showWebhookOutput: (mine) => ({ params: { id: mine.pipe.id } }),
  rotateWebhookSecret: (mine) => ({ params: { id: mine.pipe.id } }),
  sendTestEvent: (mine) => ({ params: { id: mine.pipe.id } }),
  listDeliveries: () => ({}),
  showDelivery: (mine) => ({ params: { id: mine.delivery.id } }),
  resendDelivery: (mine) => ({ params: { id: mine.delivery.id } }),
  resendFailed: (mine) => ({ body: { since: '2026-01-01T00:00:00Z', pipeId: mine.pipe.id } }),
  listFiles: () => ({
    query: { status: 'transferred', filename: 'FILM', createdAfter: '2026-01-01T00:00:00Z' },
  }),
  showFile: (mine) => ({ params: { id: mine.arrived } }),
  cancelFile: (mine) => ({ params: { id: mine.underWay } }),
  eraseFile: (mine) => ({ params: { id: mine.arrived } }),
  reportUsage: () => ({ query: { month: '2026-02' } }),
  createAccountKey: () => ({ body: { name: 'Another' } }),
  listAccountKeys: () => ({}),
  listAudit: () => ({}),
  openApi: () => ({}),
  revokeSender: (mine) => ({ params: { id: mine.sender.id } }),
  deletePipe: (mine) => ({ params: { id: mine.pipe.id } }),
  deleteDataStore: (mine) => ({ params: { id: mine.spare.id } }),
  revokeAccountKey: (mine) => ({ params: { id: mine.accountKey.id } }),
}

function request({ method, path, auth }: Operation, recipe: Recipe, key: string | undefined): Request {
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

const byId = (id: string) => OPERATIONS.find((operation) => operation.id === id)!

it('has a recipe for every operation', () => {
  expect(Object.keys(RECIPES).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort())
})

onBothDatabases('the management API', (database) => {
  const document = openApiDocument(OPERATIONS, 'http://localhost:3000') as Document
  const described = ({ path, method }: Operation) => document.paths[path]![method.toLowerCase()]!

  it('does and answers what its document says, in every operation', async () => {
    const runtime = testRuntime(database())
    const mine = await furnish(runtime)
    for (const [id, recipeOf] of Object.entries(RECIPES)) {
      const operation = byId(id)
      const recipe = recipeOf(mine)
      const says = described(operation)
      if (recipe.body)
        expectFits(says.requestBody!.content['application/json']!.schema, recipe.body, `${id} request`)
      for (const name of Object.keys(recipe.query ?? {})) {
        expect(
          says.parameters!.map((parameter) => parameter.name),
          id,
        ).toContain(name)
      }
      const response = await handleApiRequest(
        runtime,
        request(operation, recipe, recipe.key ?? mine.accountKey.key),
      )
      const text = await response.text()
      expect(response.status, `${id}: ${text}`).toBe(operation.status)
      const content = says.responses[response.status]!.content
      if (content) expectFits(content['application/json']!.schema, JSON.parse(text), `${id} answer`)
      else expect(text).toBe('')
      runtime.clock.advance(minutes(1))
    }
  })

  it("answers 404 to another workspace's ids, as to ids that never were, in every operation", async () => {
    const runtime = testRuntime(database())
    const [mine, theirs] = [await furnish(runtime), await furnish(runtime)]
    const before = await stateOf(runtime, theirs)
    for (const [id, recipeOf] of Object.entries(RECIPES)) {
      const operation = byId(id)
      const recipe = recipeOf(theirs)
      const key = recipe.key ? mine.sender.token : mine.accountKey.key
      if (!recipe.params && !recipe.key) continue
      const answers: unknown[] = []
      for (const params of [recipe.params, never(recipe.params), { id: 'nonsense%00' }]) {
        const body =
          recipe.key && params !== recipe.params ? { pipeId: 'pipe_aaaaaaaaaaaaaaaaaaaa' } : recipe.body
        const asked = { ...recipe, ...(params && { params }), ...(body && { body }) }
        const response = await handleApiRequest(runtime, request(operation, asked, key))
        expect(response.status, id).toBe(404)
        answers.push(await response.json())
      }
      expect(answers[1], id).toEqual(answers[0])
      expect(answers[2], id).toEqual(answers[0])
    }
    expect(await stateOf(runtime, theirs)).toEqual(before)
  })

  it('lists nothing of another workspace, and takes none of its ids in a body', async () => {
    const runtime = testRuntime(database())
    const [mine, theirs] = [await furnish(runtime), await furnish(runtime)]
    const secrets = [
      theirs.workspaceId,
      theirs.pipe.id,
      theirs.sender.id,
      theirs.dataStore.id,
      theirs.arrived,
    ]
    const lists = OPERATIONS.filter(({ id }) => /^(list|report)/.test(id))
    for (const operation of lists) {
      const response = await handleApiRequest(runtime, request(operation, {}, mine.accountKey.key))
      const text = await response.text()
      for (const secret of [...secrets, theirs.delivery.id, theirs.token.id, theirs.accountKey.id]) {
        expect(text, operation.id).not.toContain(secret)
      }
    }
    const body = { name: 'Mine on theirs', dataStoreId: theirs.dataStore.id }
    const created = await handleApiRequest(
      runtime,
      request(byId('createPipe'), { body }, mine.accountKey.key),
    )
    expect(await created.json()).toMatchObject({
      code: 'invalid_request',
      errors: [{ field: 'dataStoreId' }],
    })
    const change = { params: { id: mine.pipe.id }, body: { dataStoreId: theirs.dataStore.id } }
    const changed = await handleApiRequest(runtime, request(byId('updatePipe'), change, mine.accountKey.key))
    expect(changed.status).toBe(400)
    const query = { pipeId: theirs.pipe.id }
    for (const id of ['listFiles', 'listTokens']) {
      const filtered = await handleApiRequest(runtime, request(byId(id), { query }, mine.accountKey.key))
      expect(await filtered.json()).toEqual({ data: [], nextCursor: null })
    }
  })

  it("answers not found to another workspace's ids in the verbs that only the dashboard calls", async () => {
    const runtime = testRuntime(database())
    const [mine, theirs] = [await furnish(runtime), await furnish(runtime)]
    for (const verb of [previewPipeDeletion, revealSecret]) {
      await expect(verb(runtime, mine.actor, theirs.pipe.id)).rejects.toMatchObject({
        code: 'pipe_not_found',
      })
    }
  })

  describe.each([
    ['account_key_missing', undefined],
    ['account_key_invalid', `ak_${'x'.repeat(43)}`],
  ])('401 %s', (code, key) => {
    it('in every operation of the management API', async () => {
      const runtime = testRuntime(database())
      const id = uuidv7()
      for (const operation of OPERATIONS.filter(({ auth }) => auth === 'actor')) {
        const response = await handleApiRequest(runtime, request(operation, { params: { id } }, key))
        expect(response.status, operation.id).toBe(401)
        expect(await response.json()).toMatchObject({ code })
        expect(response.headers.get('www-authenticate')).toBe('Bearer')
      }
    })
  })
})

type Described = {
  parameters?: { name: string }[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<number, { content?: Record<string, { schema: object }> }>
}
type Document = { paths: Record<string, Record<string, Described>> }

function expectFits(schema: object, value: unknown, what: string): void {
  const result = z.fromJSONSchema(schema as never).safeParse(value)
  expect(result.error?.issues ?? [], what).toEqual([])
}

/** Well-formed ids that nobody has. */
function never(params: Record<string, string> | undefined): Record<string, string> | undefined {
  return params && { id: params.id!.startsWith('pipe_') ? 'pipe_aaaaaaaaaaaaaaaaaaaa' : uuidv7() }
}

async function stateOf({ db }: TestRuntime, { workspaceId }: Furnished): Promise<unknown> {
  const mine = <T extends { workspaceId: unknown }>(
    table: T,
    { eq }: { eq: (a: never, b: never) => unknown },
  ) => eq(table.workspaceId as never, workspaceId as never) as never
  return {
    pipes: await db.query.pipes.findMany({ where: mine }),
    senders: await db.query.senders.findMany({ where: mine }),
    dataStores: await db.query.dataStores.findMany({ where: mine, orderBy: (t, { asc }) => asc(t.id) }),
    files: await db.query.files.findMany({ where: mine, orderBy: (t, { asc }) => asc(t.id) }),
    tokens: await db.query.tokens.findMany({ where: mine }),
    accountKeys: await db.query.accountKeys.findMany({ where: mine }),
    webhookOutputs: await db.query.webhookOutputs.findMany({ where: mine }),
    deliveries: await db.query.deliveries.findMany({ where: mine }),
    audit: await db.query.auditLog.findMany({ where: mine }),
  }
}
