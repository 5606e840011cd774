import { randomBytes } from 'node:crypto'
import { emailField } from '../lib/identity/accounts/account.ts'
import { createAccount } from '../lib/identity/accounts/create-account.ts'
import { createAccountKey } from '../lib/identity/accounts/create-account-key.ts'
import { hashPassword } from '../lib/identity/accounts/password.ts'
import { migrate } from '../lib/platform/db/migrate.ts'
import { openDatabase } from '../lib/platform/db/open-database.ts'
import { systemClock } from '../lib/platform/kernel/clock.ts'
import { createLogger } from '../lib/platform/log/log.ts'
import { loadSettings } from './load-settings.ts'
import { misused, readOptions } from './read-options.ts'
import { runScript } from './run-script.ts'

/** `npm run account -- --email you@example.com [--name You]`: makes an account, and prints its password and key as JSON. */
const USAGE = 'npm run account -- --email you@example.com [--name You]'
const { values } = readOptions(USAGE, {
  options: { email: { type: 'string' }, name: { type: 'string' } },
})
const { email: address = misused('--email is missing', USAGE), name } = values
await runScript(async () => {
  const { data: email } = emailField.safeParse(address)
  if (!email) misused(`--email is ${address}, which is no e-mail address`, USAGE)
  console.log(JSON.stringify(await makeAccount(email, name), null, 2))
})

async function makeAccount(email: string, name: string | undefined) {
  const database = await openDatabase(loadSettings(), { log: createLogger('warn'), share: true })
  try {
    await migrate(database.db)
    const password = randomBytes(15).toString('base64url')
    const passwordHash = await hashPassword(password)
    return await database.db.transaction(async (db) => {
      const runtime = { db, clock: systemClock }
      const made = await createAccount(runtime, { email, name, passwordHash, emailVerified: true })
      const actor = { ...made, kind: 'system', id: null, label: 'npm run account' } as const
      const { key } = await createAccountKey(runtime, actor, { name: 'First key' })
      return { email, password, accountKey: key, workspaceId: made.workspaceId }
    })
  } finally {
    await database.close()
  }
}
