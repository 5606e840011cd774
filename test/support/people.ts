import { members } from '#drizzle/schema/index.ts'
import { createAccount } from '#lib/identity/accounts/users.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import type { Role } from '#lib/identity/rights.ts'
import { listMembers } from '#lib/identity/workspaces/members.ts'
import { openMailJob } from '#lib/platform/mail/mail.ts'
import type { TestRuntime } from './runtime.ts'
import type { TestWorkspace } from './workspace.ts'

type Mailed = { mail: { to: string; subject: string; text: string } }
let people = 0

export const newEmail = () => `guest-${++people}@people.example.com`

/** Adds a person to a workspace. */
export async function addMember(
  runtime: TestRuntime,
  { workspaceId }: Pick<TestWorkspace, 'workspaceId'>,
  role: Role,
): Promise<Actor & { id: string }> {
  const email = newEmail()
  const { userId } = await createAccount(runtime, { email, passwordHash: null, emailVerified: true })
  await runtime.db.insert(members).values({ workspaceId, userId, role })
  return { workspaceId, kind: 'user', id: userId, label: email, role }
}

/** The role of each member, by the user's id. */
export async function rolesIn(
  runtime: TestRuntime,
  { actor }: TestWorkspace,
): Promise<Record<string, string>> {
  const { data } = await listMembers(runtime, actor, { limit: 100 })
  return Object.fromEntries(data.map(({ userId, role }) => [userId, role]))
}

/** The emails that were sent. */
export const mailsOf = (runtime: TestRuntime) =>
  runtime.jobs.map(({ data }) => (openMailJob(runtime, data as { sealed: string }) as Mailed).mail)
