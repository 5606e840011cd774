import { randomBytes } from 'node:crypto'
import { createAccountKey } from '../lib/identity/accounts/account-keys.ts'
import {
  disableUser,
  dropSecondFactor,
  enableUser,
  limitWorkspace,
  listUsers,
  resetUser,
} from '../lib/identity/accounts/administer.ts'
import { hashPassword } from '../lib/identity/accounts/password.ts'
import { createAccount, emailField } from '../lib/identity/accounts/users.ts'
import type { Db } from '../lib/platform/db/database.ts'
import { migrate } from '../lib/platform/db/migrate.ts'
import { openDatabase } from '../lib/platform/db/open-database.ts'
import { systemClock } from '../lib/platform/kernel/clock.ts'
import { createLogger } from '../lib/platform/log/log.ts'
import { shownJson } from '../lib/platform/log/terminal.ts'
import { loadSettings } from './load-settings.ts'
import { misused, readOptions, runScript } from './read-options.ts'

/**
 * `npm run admin -- account`: creates an account and prints its password and key as JSON, or lists all accounts, disables or
 * enables a user, resets their password, removes their second factor, or changes their workspace's limit.
 */
const USAGE =
  'npm run admin -- account [create|disable|enable|reset|drop-second-factor] --email you@example.com [--name You], or list, or limit --email … --bytes 50000000000 (0: unlimited, default: as FREE_TIER_BYTES)'
const { values, positionals } = readOptions(USAGE, {
  allowPositionals: true,
  options: { email: { type: 'string' }, name: { type: 'string' }, bytes: { type: 'string' } },
})
const [command = 'create', ...more] = positionals
if (more.length > 0) misused(`unexpected argument ${more[0]}`, USAGE)

type Given = { db: Db; clock: typeof systemClock }
const COMMANDS: Record<string, (runtime: Given) => Promise<unknown>> = {
  list: listUsers,
  create: (runtime) => makeAccount(runtime, email(), values.name),
  disable: (runtime) => disableUser(runtime, email()),
  enable: (runtime) => enableUser(runtime, email()),
  reset: (runtime) => resetUser(runtime, email()),
  'drop-second-factor': (runtime) => dropSecondFactor(runtime, email()),
  limit: (runtime) => limitWorkspace(runtime, email(), bytes()),
}
const run = COMMANDS[command] ?? misused(`There is no command "${command}"`, USAGE)
if (command !== 'list') email()
if (command === 'limit') bytes()
await runScript(async () => {
  const database = await openDatabase(loadSettings(), { log: createLogger('warn'), share: true })
  try {
    await migrate(database.db)
    const answer = await run({ db: database.db, clock: systemClock })
    console.log(shownJson(JSON.stringify(answer ?? { done: command, email: values.email }, null, 2)))
  } finally {
    await database.close()
  }
})

function email(): string {
  const given = values.email ?? misused('--email is missing', USAGE)
  const { data } = emailField.safeParse(given)
  return data ?? misused(`--email is ${given}, which is not an email address`, USAGE)
}

function bytes(): number | null {
  const given = values.bytes ?? misused('--bytes is missing', USAGE)
  if (given === 'default') return null
  if (!/^\d{1,15}$/.test(given)) misused(`--bytes is ${given}, which is not a number of bytes`, USAGE)
  return Number(given)
}

async function makeAccount({ db, clock }: Given, address: string, name: string | undefined) {
  const password = randomBytes(15).toString('base64url')
  const passwordHash = await hashPassword(password)
  return db.transaction(async (tx) => {
    const runtime = { db: tx, clock }
    const made = await createAccount(runtime, { email: address, name, passwordHash, emailVerified: true })
    const actor = {
      ...made,
      kind: 'system',
      id: made.userId,
      label: 'sluice-server account',
      role: 'owner',
    } as const
    const { key } = await createAccountKey(runtime, actor, { name: 'First key' })
    return { email: address, password, accountKey: key, workspaceId: made.workspaceId }
  })
}
