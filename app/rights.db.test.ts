import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { NextRequest } from 'next/server'
import { encode } from 'next-auth/jwt'
import type { ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { members, sessions, users, webhookOutputs } from '#drizzle/schema/index.ts'
import { createAccount } from '#lib/identity/accounts/users.ts'
import { ALL_RIGHTS, may, type Right, ROLES, type Role } from '#lib/identity/rights.ts'
import { createSession } from '#lib/identity/sessions/sessions.ts'
import { setRuntime } from '#lib/platform/runtime.ts'
import { type Furnished, furnish } from '../test/support/api-recipes.ts'
import { describeWithDatabase } from '../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../test/support/runtime.ts'

/**
 * Everything that Next serves, found by scanning the files. Each page, route and action must name a right. It is
 * requested as every role, and the outcome is compared with the table of rights. Public files are listed here; any
 * other file without a right fails.
 */
const PUBLIC = [
  '(auth)/**',
  '(site)/**',
  'api/auth/**',
  'u/**',
  // Covered by lib/api/rights.db.test.ts, which goes through the table of operations.
  'api/v1/**',
  'kit/**',
  'uppy/**',
  '{llms,robots}.txt/**',
  'sitemap.xml/**',
  '(person)/sign-out.ts',
]
const found = (pattern: string) =>
  globSync(pattern, { cwd: 'app', exclude: PUBLIC })
    .filter((file) => !file.includes('.test.'))
    .sort()
const sourceOf = (file: string) => readFileSync(join('app', file), 'utf8')

const PAGES = found('**/page.tsx')
const LAYOUTS = found('**/*/layout.tsx')
const ROUTES = found('**/route.ts')
const ACTIONS = found('**/*.ts').filter((file) => /^'use server'$/m.test(sourceOf(file)))
/** Open to every signed-in user, with or without a workspace. */
const OF_A_PERSON = /\b(?:actAsPerson(?:<[^(]*>)?|requirePerson|currentPerson)\(/
const DECLARED = new RegExp(
  `(?:act(?:<[^(]*>)?|currentActor|requireSession|exportOrProblem|currentPipe\\(props|(?:may|assertMay)\\([\\w.]+)(?:\\(|, )\\s*'(${ALL_RIGHTS.join('|')})'`,
)
/** For the service's operator: every role gets a 404. */
const isOperators = (source: string) => /\b(?:actAsOperator|requireOperator)\(/.test(source)
const rightOf = (source: string) =>
  OF_A_PERSON.test(source) ? 'see' : (DECLARED.exec(source)?.[1] as Right | undefined)

/** The id of a webhook output, by its workspace's id. */
const outputOf = new Map<string, string>()
/** Pages that do not return 200 in a workspace that is not a demo and requires no second factor. */
const UNUSUAL: Record<string, number> = {
  'dashboard/settings/mails/page.tsx': 404,
  '(person)/second-factor/page.tsx': 307,
}

const jar = new Map<string, string>()
vi.mock('next/headers', () => ({
  cookies: async () => ({
    get: (name: string) => (jar.has(name) ? { value: jar.get(name) } : undefined),
    set: () => {},
  }),
  headers: async () => new Headers({ 'x-forwarded-for': '192.0.2.1' }),
}))
vi.mock('next/cache', () => ({ revalidatePath: () => {} }))
// The filter bar uses Next's router, which is missing here, and shows no workspace data.
vi.mock('#components/ui/filter-bar.tsx', () => ({ FilterBar: () => null }))

type Module = Record<string, (...args: unknown[]) => Promise<unknown>>
const load = (file: string) => import(/* @vite-ignore */ join(process.cwd(), 'app', file)) as Promise<Module>

describe('rights named by pages, routes and actions', () => {
  it.each([...PAGES, ...LAYOUTS, ...ROUTES])('%s names the right that it requires', (file) => {
    expect(isOperators(sourceOf(file)) || rightOf(sourceOf(file))).toBeTruthy()
  })

  it('finds the pages, routes and actions', () => {
    expect(PAGES.length).toBeGreaterThan(25)
    expect(ROUTES.length).toBeGreaterThan(4)
    expect(ACTIONS.length).toBeGreaterThan(8)
  })
})

describeWithDatabase('rights enforced by pages, routes and actions', (database) => {
  let runtime: TestRuntime
  let mine: Furnished
  let theirs: Furnished
  const memberOf = {} as Record<Role, { userId: string; cookie: string }>

  beforeAll(async () => {
    vi.stubEnv('__NEXT_EXPERIMENTAL_AUTH_INTERRUPTS', 'true')
    runtime = testRuntime(database())
    mine = await furnish(runtime)
    theirs = await furnish(runtime)
    for (const { workspaceId, id } of await runtime.db.select().from(webhookOutputs))
      outputOf.set(workspaceId, id)
    for (const role of ROLES) memberOf[role] = await signedUp(runtime, role)
  })
  beforeEach(() => setRuntime(runtime))

  /** Signs in with the role, after restoring the membership and the session, which some actions end. */
  async function as(role: Role): Promise<void> {
    jar.set('next-auth.session-token', memberOf[role].cookie)
    const { workspaceId } = mine
    const { userId } = memberOf[role]
    await runtime.db.insert(members).values({ workspaceId, userId, role }).onConflictDoNothing()
    await runtime.db.update(sessions).set({ workspaceId, revokedAt: null }).where(eq(sessions.userId, userId))
  }

  describe.each(PAGES)('%s', (file) => {
    it.each(ROLES)(
      'opens to %s according to the table of rights, and shows nothing from another workspace',
      async (role) => {
        await as(role)
        const right = rightOf(sourceOf(file))!
        const { default: page } = await load(file)
        const open = (whose: Furnished) => outcomeOf(page!(propsOf(file, whose)))
        if (isOperators(sourceOf(file))) return expect(await open(mine)).toBe(404)
        if (!may({ role }, right)) {
          expect(await open(mine)).toBe(403)
          return expect(await open(theirs)).toBe(403)
        }
        const own = await open(mine)
        expect(own).toBe(UNUSUAL[file] ?? 200)
        if (file.includes('[id]')) expect(await open(theirs)).toBe(404)
      },
    )
  })

  it("opens the console to an operator with a verified address, and shows none of the customers' names, keys or secrets", async () => {
    await as('viewer')
    const operators = { ...runtime.config, operators: new Set(['viewer@members.example.com']) }
    setRuntime({ ...runtime, config: operators })
    const { userId } = theirs
    const secrets = [theirs.arrived, theirs.underWay, theirs.accountKey.last4, theirs.sender.tokenLast4]
    const hidden = [
      ...secrets,
      'a film.mp4',
      'film',
      'user-1',
      'AKIAEXAMPLE',
      'secret-of',
      theirs.pipe.id,
      userId,
    ]
    const pages = PAGES.filter((file) => isOperators(sourceOf(file)))
    expect(pages).toHaveLength(3)
    for (const file of pages) {
      const { default: page } = await load(file)
      const html = renderToStaticMarkup((await page!(propsOf(file, theirs))) as ReactNode)
      if (!file.includes('service')) expect(html).toContain(theirs.email)
      for (const name of hidden) expect(html, `${name} in ${file}`).not.toContain(name)
    }
    await runtime.db.update(users).set({ emailVerifiedAt: null }).where(eq(users.id, memberOf.viewer.userId))
    const { default: page } = await load(pages[0]!)
    expect(await outcomeOf(page!(propsOf(pages[0]!, theirs)))).toBe(404)
  })

  describe.each(LAYOUTS)('%s', (file) => {
    it.each(ROLES)('opens to %s according to the table of rights', async (role) => {
      await as(role)
      const { default: layout } = await load(file)
      const source = sourceOf(file)
      const wanted = isOperators(source) ? 404 : may({ role }, rightOf(source)!) ? 200 : 403
      expect(await outcomeOf(layout!(propsOf(file, mine)))).toBe(wanted)
    })
  })

  describe.each(ROUTES)('%s', (file) => {
    it.each(ROLES)(
      'responds to %s according to the table of rights, and never to an anonymous visitor',
      async (role) => {
        const { GET } = await load(file)
        const kinds = file.includes('[kind]') ? ['file', 'delivery'] : ['']
        for (const kind of kinds) {
          const ask = async (whose: Furnished) => {
            const request = new NextRequest('http://localhost:3000/x?topic=files')
            const id = kind === 'file' ? whose.arrived : whose.delivery.id
            const response = (await GET!(request, { params: Promise.resolve({ kind, id }) })) as Response
            await response.body?.cancel()
            return response.status
          }
          jar.clear()
          expect([302, 401]).toContain(await ask(mine))
          await as(role)
          expect(await ask(mine)).toBe(may({ role }, rightOf(sourceOf(file))!) ? 200 : 403)
          if (kind) expect(await ask(theirs)).toBe(404)
        }
      },
    )
  })

  describe.each(ACTIONS)('%s', (file) => {
    const functions = sourceOf(file)
      .split(/^(?=export async function )/m)
      .slice(1)
    it.each(functions.map((source) => [/function (\w+)/.exec(source)![1]!, source]))(
      '%s rejects exactly the roles that the table of rights excludes',
      async (name, source) => {
        const [forOperators, right] = [isOperators(source), rightOf(source)]
        expect(forOperators || right, 'names no right').toBeTruthy()
        const actions = await load(file)
        expect(Object.keys(actions)).toHaveLength(functions.length)
        for (const role of ROLES) {
          await as(role)
          // No action does anything with nonsense input. Callers without the right are refused before it is read.
          const said = await actions[name]!(
            'nonsense',
            new FormData(),
            new FormData(),
            [],
            new FormData(),
          ).catch((error: Error & { digest?: string }) => error.digest ?? error.message)
          const refused = (forOperators ? /FALLBACK;404/ : /Your role is/).test(JSON.stringify(said))
          expect(refused, `${role}: ${JSON.stringify(said)}`).toBe(forOperators || !may({ role }, right!))
        }
      },
    )
  })
})

async function signedUp(runtime: TestRuntime, role: Role): Promise<{ userId: string; cookie: string }> {
  const account = { email: `${role}@members.example.com`, passwordHash: null, emailVerified: true }
  const { userId } = await createAccount(runtime, account)
  const { id: sid } = await createSession(runtime, userId, { userAgent: null, address: null })
  return { userId, cookie: await encode({ token: { sid }, secret: runtime.config.authSecret }) }
}

function propsOf(file: string, whose: Furnished) {
  const { pipe, sender, senderGroup, dataStore, arrived, workspaceId } = whose
  const id = {
    outputs: outputOf.get(workspaceId)!,
    workspaces: workspaceId,
    pipes: pipe.id,
    groups: senderGroup.id,
    senders: sender.id,
    'data-stores': dataStore.id,
    files: arrived,
  }
  const kind = Object.keys(id).find((name) => file.includes(`${name}/[id]`))
  const params = Promise.resolve(kind ? { id: id[kind as keyof typeof id] } : {})
  return { params, searchParams: Promise.resolve({}), children: null }
}

/** `forbidden()`, `notFound()` and `redirect()` throw Next's responses. */
async function outcomeOf(shown: Promise<unknown>): Promise<number> {
  try {
    await shown
    return 200
  } catch (error) {
    if (/^NEXT_REDIRECT;/.test(String((error as { digest?: unknown }).digest))) return 307
    const status = /^NEXT_HTTP_ERROR_FALLBACK;(\d+)$/.exec(
      String((error as { digest?: unknown }).digest),
    )?.[1]
    if (!status) throw error
    return Number(status)
  }
}
