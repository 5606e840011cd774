import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { byId, type Furnished, furnish, RECIPES, request } from '../../test/support/api-recipes.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { minutes } from '../platform/kernel/clock.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import { revealSecret } from '../webhooks/outputs/signing-secrets.ts'
import { previewPipeDeletion } from '../workspace/pipes/delete-pipe.ts'
import { handleApiRequest } from './handle-request.ts'
import { openApiDocument } from './open-api-document.ts'
import type { Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'

it('has a recipe for every operation', () => {
  expect(Object.keys(RECIPES).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort())
})

describeWithDatabase('the management API', (database) => {
  const document = openApiDocument(OPERATIONS, 'http://localhost:3000') as Document
  const described = ({ path, method }: Operation) => document.paths[path]![method.toLowerCase()]!

  it('matches its OpenAPI document in every operation', async () => {
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
      const text = operation.stream ? await response.body!.cancel() : await response.text()
      expect(response.status, `${id}: ${text}`).toBe(operation.status)
      if (operation.stream) continue
      const content = says.responses[response.status]!.content
      if (content) expectFits(content['application/json']!.schema, JSON.parse(text!), `${id} answer`)
      else expect(text).toBe('')
      runtime.clock.advance(minutes(1))
    }
  })

  it("returns the same 404 for another workspace's ids as for missing ids, in every operation", {
    tags: 'long',
  }, async () => {
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
        const isOther = recipe.key && recipe.body && params !== recipe.params
        const body = isOther ? { ...recipe.body, pipeId: 'pipe_aaaaaaaaaaaaaaaaaaaa' } : recipe.body
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

  it('lists nothing from another workspace, and rejects its ids in request bodies', async () => {
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
      const { params = {} } = RECIPES[operation.id]!(mine)
      const response = await handleApiRequest(runtime, request(operation, { params }, mine.accountKey.key))
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

  it("reports another workspace's ids as not found in verbs that only the dashboard calls", async () => {
    const runtime = testRuntime(database())
    const [mine, theirs] = [await furnish(runtime), await furnish(runtime)]
    const absent = { code: 'pipe_not_found' }
    const { id } = theirs.pipe
    await expect(previewPipeDeletion(runtime, mine.actor, id)).rejects.toMatchObject(absent)
    await expect(revealSecret(runtime, mine.actor, { firstOf: id })).rejects.toMatchObject(absent)
  })

  it.each([
    ['/pipes', 'sk_', 'This is a Sender token; send an ak_ account key.'],
    ['/pipes', 'tmp_', 'This is a temporary token; send an ak_ account key.'],
    ['/pipes', 'nonsense', 'An account key starts with ak_.'],
    ['/imports/unknown', 'ak_', "This is an account key; send a Sender's sk_ token."],
    ['/imports/unknown', 'nonsense', 'A Sender token starts with sk_.'],
  ])('GET %s with the token %s names the kind of token that it needs', async (path, token, detail) => {
    const headers = { Authorization: `Bearer ${token}` }
    const asked = new Request(`http://localhost:3000/api/v1${path}`, { headers })
    const response = await handleApiRequest(testRuntime(database()), asked)
    expect([response.status, ((await response.json()) as { detail: string }).detail]).toEqual([401, detail])
  })

  describe.each([
    ['account_key_missing', undefined],
    ['account_key_invalid', `ak_${'x'.repeat(43)}`],
  ])('401 %s', (code, key) => {
    it('is returned by every operation of the management API', async () => {
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

/** Well-formed ids that do not exist. */
function never(params: Record<string, string> | undefined): Record<string, string> | undefined {
  return params && { id: params.id!.startsWith('pipe_') ? 'pipe_aaaaaaaaaaaaaaaaaaaa' : uuidv7() }
}

async function stateOf({ db }: TestRuntime, { workspaceId }: Furnished): Promise<unknown> {
  const mine = <T extends { workspaceId: unknown }>(
    table: T,
    { eq }: { eq: (a: never, b: never) => unknown },
  ) => eq(table.workspaceId as never, workspaceId as never) as never
  return {
    pipes: await db.query.pipes.findMany({ where: mine, orderBy: (t, { asc }) => asc(t.id) }),
    senders: await db.query.senders.findMany({ where: mine, orderBy: (t, { asc }) => asc(t.id) }),
    dataStores: await db.query.dataStores.findMany({ where: mine, orderBy: (t, { asc }) => asc(t.id) }),
    files: await db.query.files.findMany({ where: mine, orderBy: (t, { asc }) => asc(t.id) }),
    tokens: await db.query.tokens.findMany({ where: mine, orderBy: (t, { asc }) => asc(t.id) }),
    accountKeys: await db.query.accountKeys.findMany({ where: mine, orderBy: (t, { asc }) => asc(t.id) }),
    webhookOutputs: await db.query.webhookOutputs.findMany({
      where: mine,
      orderBy: (t, { asc }) => asc(t.id),
    }),
    deliveries: await db.query.deliveries.findMany({ where: mine, orderBy: (t, { asc }) => asc(t.id) }),
    audit: await db.query.auditLog.findMany({ where: mine, orderBy: (t, { asc }) => asc(t.id) }),
  }
}
