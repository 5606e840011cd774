import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { members, users } from '#drizzle/schema/index.ts'
import { type Furnished, furnish, RECIPES, request } from '../../test/support/api-recipes.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { openCountingProxy } from '../../test/support/http-proxies.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { createAccountKey, type KeyScope } from '../identity/accounts/account-keys.ts'
import { createAccount } from '../identity/accounts/users.ts'
import { may, ROLES, type Role } from '../identity/rights.ts'
import { openPostgres } from '../platform/db/open-postgres.ts'
import { days } from '../platform/kernel/clock.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import { handleApiRequest } from './handle-request.ts'
import type { Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'

const OF_ACTORS = OPERATIONS.filter(({ auth }) => auth === 'actor')

it('every operation that requires a key declares a right, and no other operation does', () => {
  for (const { id, auth, right } of OPERATIONS) expect(right !== undefined, id).toBe(auth === 'actor')
})

describeWithDatabase('the rights of account keys', (database) => {
  it("are those of the creator's role, in every operation, and only within the workspace", async () => {
    const runtime = testRuntime(database())
    const [mine, theirs] = [await furnish(runtime), await furnish(runtime)]
    for (const role of ROLES) {
      const { key } = await memberWithKey(runtime, mine, role)
      for (const operation of OF_ACTORS) {
        const { id, right } = operation
        const own = await ask(runtime, operation, theirs, key)
        const never = await ask(runtime, operation, theirs, key, neverWas(RECIPES[id]!(theirs).params))
        const allowed = may({ role }, right!)
        expect(own.status === 403, `${id} as ${role}: ${own.text}`).toBe(!allowed)
        if (!allowed) expect(JSON.parse(own.text)).toMatchObject({ code: 'forbidden' })
        if (!RECIPES[id]!(theirs).params) continue
        if (allowed) expect(own.status, `${id} as ${role}`).toBe(404)
        expect(own.text, `${id} as ${role}`).toBe(never.text)
      }
    }
  })

  it("are checked with as many statements for a missing id as for another workspace's id", {
    tags: 'long',
  }, async () => {
    const runtime = testRuntime(database())
    const [mine, theirs] = [await furnish(runtime), await furnish(runtime)]
    const proxy = await openCountingProxy(database().url)
    const counted = openPostgres({ address: proxy.url, maxConnections: 1 })
    const through = { ...runtime, database: counted, db: counted.db }
    for (const operation of OF_ACTORS) {
      const { params } = RECIPES[operation.id]!(theirs)
      if (!params) continue
      const never = () => ask(through, operation, theirs, mine.accountKey.key, neverWas(params))
      // The first call prepares the statements.
      await never()
      proxy.take()
      await never()
      const atNothing = proxy.take()
      await ask(through, operation, theirs, mine.accountKey.key)
      expect(proxy.take(), operation.id).toEqual(atNothing)
      expect(atNothing.roundTrips).toBeGreaterThan(0)
    }
    await counted.close()
    proxy.close()
  })

  it.each<[KeyScope, Role]>([
    ['read', 'viewer'],
    ['write', 'developer'],
    ['admin', 'admin'],
  ])('are those of the scope %s if its creator has more rights', { tags: 'long' }, async (scope, role) => {
    const runtime = testRuntime(database())
    const mine = await furnish(runtime)
    const { key } = await createAccountKey(runtime, mine.actor, { name: 'Scoped', scope })
    for (const operation of OF_ACTORS.filter(({ path }) => path.includes('{id}'))) {
      const { status } = await ask(runtime, operation, mine, key, neverWas({ id: mine.pipe.id }))
      expect(status === 403, operation.id).toBe(!may({ role }, operation.right!))
    }
  })

  it("change with their creator's role and end with the membership, effective from the next request", async () => {
    const runtime = testRuntime(database())
    const mine = await furnish(runtime)
    const { key, userId } = await memberWithKey(runtime, mine, 'admin')
    const operation = OPERATIONS.find(({ id }) => id === 'eraseFile')!
    const erase = () => ask(runtime, operation, mine, key, { id: uuidv7() })
    expect((await erase()).status).toBe(404)
    await runtime.db.update(members).set({ role: 'developer' }).where(eq(members.userId, userId))
    expect((await erase()).status).toBe(403)
    await runtime.db.delete(members).where(eq(members.userId, userId))
    expect(await erase()).toMatchObject({ status: 401 })
  })

  it('end when the key expires, and when its creator is disabled', async () => {
    const runtime = testRuntime(database())
    const mine = await furnish(runtime)
    const expiresAt = new Date(runtime.clock.now() + days(1))
    const made = await createAccountKey(runtime, mine.actor, { name: 'For a day', expiresAt })
    expect(made).toMatchObject({ expiresAt: expiresAt.toISOString(), createdBy: mine.email, scope: 'admin' })
    const list = OPERATIONS.find(({ id }) => id === 'listPipes')!
    expect((await ask(runtime, list, mine, made.key)).status).toBe(200)
    runtime.clock.advance(days(1))
    const late = await ask(runtime, list, mine, made.key)
    expect(late.status).toBe(401)
    expect(late.text).toContain('expired')
    expect((await ask(runtime, list, mine, mine.accountKey.key)).status).toBe(200)
    await runtime.db.update(users).set({ disabledAt: new Date() }).where(eq(users.id, mine.userId))
    expect((await ask(runtime, list, mine, mine.accountKey.key)).status).toBe(401)
  })

  it('never exceed those of the key or person that creates the key', async () => {
    const runtime = testRuntime(database())
    const mine = await furnish(runtime)
    const create = OPERATIONS.find(({ id }) => id === 'createAccountKey')!
    const { key, email } = await memberWithKey(
      runtime,
      mine,
      'developer',
      new Date(runtime.clock.now() + days(2)),
    )
    const make = (body: object) => ask(runtime, create, mine, key, undefined, body)
    const tooMuch = await make({ name: 'More', scope: 'admin' })
    expect(tooMuch.status).toBe(400)
    expect(tooMuch.text).toContain('"field":"scope"')
    const past = await make({ name: 'Past', expiresAt: '2020-01-01T00:00:00Z' })
    expect(past.text).toContain('"field":"expiresAt"')
    const made = JSON.parse((await make({ name: 'As much' })).text)
    expect(made).toMatchObject({ scope: 'write', createdBy: email })
    expect(Date.parse(made.expiresAt)).toBe(runtime.clock.now() + days(2))
  })

  it('only allow revoking keys that have no more rights', async () => {
    const runtime = testRuntime(database())
    const mine = await furnish(runtime)
    const revoke = OPERATIONS.find(({ id }) => id === 'revokeAccountKey')!
    const { key, id } = await memberWithKey(runtime, mine, 'developer')
    expect((await ask(runtime, revoke, mine, key, { id: mine.accountKey.id })).status).toBe(403)
    expect((await ask(runtime, revoke, mine, key, { id })).status).toBe(200)
  })
})

let people = 0

async function memberWithKey(
  runtime: TestRuntime,
  { workspaceId }: Furnished,
  role: Role,
  expiresAt: Date | null = null,
) {
  const email = `${role}-${++people}@members.example.com`
  const { userId } = await createAccount(runtime, { email, passwordHash: null, emailVerified: true })
  await runtime.db.insert(members).values({ workspaceId, userId, role })
  const actor = { workspaceId, kind: 'user', id: userId, label: email, role } as const
  return { userId, email, ...(await createAccountKey(runtime, actor, { name: `Of ${role}`, expiresAt })) }
}

async function ask(
  runtime: TestRuntime,
  operation: Operation,
  of: Furnished,
  key: string,
  params?: Record<string, string>,
  body?: object,
) {
  const recipe = RECIPES[operation.id]!(of)
  const asked = { ...recipe, ...(params && { params }), ...(body && { body }) }
  const response = await handleApiRequest(runtime, request(operation, asked, key))
  if (operation.stream && response.ok) await response.body!.cancel()
  return { status: response.status, text: operation.stream && response.ok ? '' : await response.text() }
}

/** Well-formed ids that do not exist. */
function neverWas(params: Record<string, string> | undefined): Record<string, string> | undefined {
  const other = (id: string) => (id.startsWith('pipe_') ? 'pipe_aaaaaaaaaaaaaaaaaaaa' : uuidv7())
  return params && Object.fromEntries(Object.entries(params).map(([name, id]) => [name, other(id)]))
}
