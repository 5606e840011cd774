import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { handleApiRequest } from '#lib/api/handle-request.ts'
import { createAccountKey } from '#lib/identity/accounts/account-keys.ts'
import { createAccount } from '#lib/identity/accounts/users.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { carryOut, type Shown } from '../../packages/cli/src/apply/carry-out.ts'
import { type Document, readDocument } from '../../packages/cli/src/apply/document.ts'
import { makePlan, type Plan } from '../../packages/cli/src/apply/plan.ts'
import { readWorkspace, type Workspace } from '../../packages/cli/src/apply/workspace.ts'
import { createSluice, type Sluice } from '../../packages/node/src/client.ts'
import type { TestRuntime } from './runtime.ts'

/** Runs `sluice apply` directly against the API's code, without a server. */
let made = 0
export async function emptyWorkspace(runtime: TestRuntime): Promise<Sluice & { actor: Actor }> {
  const email = `applies-${++made}@example.com`
  const account = await createAccount(runtime, { email, passwordHash: null, emailVerified: true })
  const { workspaceId, userId } = account
  const actor: Actor = { workspaceId, kind: 'user', id: userId, label: email, role: 'owner' }
  const { key } = await createAccountKey(runtime, actor, { name: 'CI' })
  const fetch: typeof globalThis.fetch = (input, init) => handleApiRequest(runtime, new Request(input, init))
  return Object.assign(createSluice({ baseUrl: 'http://localhost:3000', accountKey: key, fetch }), { actor })
}

type Environment = Record<string, string>
const ENV: Environment = { STORE_KEY: 'store-secret-1', FILMS_HEADER: 'receiver-secret-1' }

export function documentOf(text: string, env = ENV): Document {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-apply-'))
  try {
    const file = join(folder, 'sluice.yaml')
    writeFileSync(file, text)
    return readDocument(file, env)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

type Options = { env?: Environment; prune?: boolean }

export async function planOf(
  sluice: Sluice,
  text: string,
  { env = ENV, prune = false }: Options = {},
): Promise<{ found: Workspace; plan: Plan }> {
  const found = await readWorkspace(sluice)
  return { found, plan: makePlan(documentOf(text, env), found, { secrets: false, prune }) }
}

export async function apply(
  sluice: Sluice,
  text: string,
  options: Options = {},
): Promise<{ steps: string[]; shown: Shown[] }> {
  const { found, plan } = await planOf(sluice, text, options)
  const shown = await carryOut(sluice, plan.steps, found, () => {})
  return { steps: plan.steps.map(({ action, kind, name }) => `${action} ${kind} ${name}`), shown }
}
