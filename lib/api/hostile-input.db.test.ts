import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { byId, type Furnished, furnish, RECIPES, request } from '../../test/support/api-recipes.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { handleApiRequest } from './handle-request.ts'

/** Strings that PostgreSQL rejects, and strings that could break a handwritten SQL statement. */
const NO_TEXT = ['a\0b', 'x\udc00']
const ODD_TEXT = ["'", '%', '\\', '$1', '\u202e', '\uffff', '9'.repeat(400), '-1', 'NaN', '{', '__proto__']

const IDS = Object.keys(RECIPES)

describeWithDatabase('hostile input', (database) => {
  let runtime: TestRuntime
  let mine: Furnished
  beforeAll(async () => {
    runtime = testRuntime(database(), { LOG_LEVEL: 'silent' })
    mine = await furnish(runtime)
  })

  type Changed = { query?: Record<string, string>; body?: object; raw?: string; headers?: object }
  async function call(id: string, { raw, headers, ...changed }: Changed) {
    const recipe = { ...RECIPES[id]!(mine), ...changed }
    // Uses ids that do not exist, so that no call deletes or revokes something that a later call needs.
    const params = recipe.params && { id: recipe.params.id!.startsWith('pipe_') ? mine.pipe.id : NOBODY }
    const asked = request(byId(id), { ...recipe, ...(params && { params }) }, keyOf(id))
    const sent = raw === undefined ? asked : new Request(asked, { body: raw, headers: asked.headers })
    for (const [name, value] of Object.entries(headers ?? {})) sent.headers.set(name, value)
    const response = await handleApiRequest(runtime, sent)
    return { status: response.status, text: await response.text() }
  }
  const keyOf = (id: string) => RECIPES[id]!(mine).key ?? mine.accountKey.key
  const NOBODY = '019a0000-0000-7000-8000-000000000000'
  const withQuery = IDS.filter((id) => byId(id).query)
  const withBody = IDS.filter((id) => byId(id).body)

  it.each(withQuery)('%s: returns no 500 for any query parameter, and rejects text with NUL', async (id) => {
    const { shape } = byId(id).query as unknown as { shape: object }
    for (const name of Object.keys(shape)) {
      expect((await call(id, { query: { [name]: 'a\0b' } })).status, name).toBe(400)
      for (const text of ODD_TEXT) {
        expect((await call(id, { query: { [name]: text } })).status, `${name}=${text}`).toBeLessThan(500)
      }
    }
  })

  describe.each(withBody)('%s', (id) => {
    const fields = () => Object.entries(RECIPES[id]!(mine).body ?? {})

    it('rejects text that PostgreSQL cannot store, in each of its fields', async () => {
      for (const [name, value] of fields()) {
        for (const text of NO_TEXT) {
          for (const put of [text, [text], { [text]: 1 }, { ...(value as object), text }]) {
            const body = { ...RECIPES[id]!(mine).body, [name]: put }
            const { status, text: said } = await call(id, { body })
            expect(status, `${name}: ${JSON.stringify(put)}: ${said}`).toBe(400)
          }
        }
      }
    })

    it('rejects a null body', async () => {
      const { status, text } = await call(id, {
        raw: 'null',
        headers: { 'Content-Type': 'application/json' },
      })
      expect(status, text).toBe(400)
    })

    it('never returns 500 for any JSON', { tags: 'long' }, async () => {
      const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...ODD_TEXT, ...NO_TEXT))
      const json = fc.oneof(
        text,
        fc.double(),
        fc.maxSafeInteger(),
        fc.boolean(),
        fc.constant(null),
        fc.array(text),
        fc.dictionary(text, text),
      )
      const names = fc.constantFrom(...fields().map(([name]) => name), 'other', '__proto__')
      await fc.assert(
        fc.asyncProperty(fc.dictionary(names, json), async (changes) => {
          const body = { ...RECIPES[id]!(mine).body, ...changes }
          const { status, text: said } = await call(id, { body })
          expect(status, said).toBeLessThan(500)
        }),
        { numRuns: 15 },
      )
    })
  })

  const closed = IDS.filter((id) => byId(id).auth !== 'nobody')
  it.each(closed)('%s: neither reads nor judges what a stranger sends', async (id) => {
    const { method, checksToken } = byId(id)
    const { url } = request(byId(id), { ...RECIPES[id]!(mine), query: { other: '1' } }, '')
    const unread = new ReadableStream({ pull: () => expect.fail('The body was read.') }, { highWaterMark: 0 })
    // The statement that issues a token also checks the Sender's, so here the body is read first.
    const body = checksToken ? '{"other":1}' : method === 'GET' || method === 'DELETE' ? undefined : unread
    for (const Authorization of ['', 'Bearer x', 'Bearer ak_x', 'Bearer sk_x']) {
      const headers = { Authorization, 'Content-Type': 'application/json' }
      const sent = new Request(url, { method, headers, body, duplex: 'half' } as RequestInit)
      expect((await handleApiRequest(runtime, sent)).status, Authorization).toBe(401)
    }
  })

  it.each(IDS.filter((id) => byId(id).method === 'POST'))(
    '%s: returns no 500 for a deeply nested body',
    async (id) => {
      const raw = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': `deep-${id}` }
      expect((await call(id, { raw, headers })).status).toBeLessThan(500)
    },
  )
})
