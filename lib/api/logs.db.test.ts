/** @module-tag long */
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { byId, furnish, RECIPES, request } from '../../test/support/api-recipes.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { handleApiRequest } from './handle-request.ts'

const SECRET = /\b(?:sk_|tmp_|ak_)[0-9A-Za-z]{43}|whsec_[\w+/=]+|a-secret/g

/**
 * Failing statements are logged with their parameters, so every operation is called while each of these tables is
 * missing.
 */
const TABLES = ['senders', 'account_keys', 'data_stores', 'webhook_outputs', 'tokens', 'pipes', 'audit_log']

describeWithDatabase('the log', (database) => {
  it('contains no secrets from any operation, whether it succeeds, is refused or fails', async () => {
    const runtime = testRuntime(database(), { LOG_LEVEL: 'debug' })
    const mine = await furnish(runtime)
    const keys = [mine.accountKey.key, mine.sender.token, `tmp_${'x'.repeat(43)}`]
    const shown: string[] = [...keys]
    let failures = 0
    const callAll = async (keys: string[]) => {
      for (const [id, recipeOf] of Object.entries(RECIPES)) {
        // Skips operations that delete or revoke something that other operations need.
        if (/^(delete|revoke|erase)/.test(id)) continue
        for (const key of keys) {
          const operation = byId(id)
          const response = await handleApiRequest(runtime, request(operation, recipeOf(mine), key))
          if (response.status >= 500) failures++
          // A stream never ends, so it is canceled instead of being read.
          if (operation.stream && response.ok) await response.body!.cancel()
          else shown.push(...((await response.text()).match(SECRET) ?? []))
        }
      }
    }
    await callAll(keys)
    for (const table of TABLES) {
      await runtime.db.execute(sql.raw(`alter table ${table} rename to gone`))
      // An unknown temporary token gets no further than its own table.
      await callAll(table === 'tokens' ? keys : keys.slice(0, 2))
      await runtime.db.execute(sql.raw(`alter table gone rename to ${table}`))
    }
    expect(failures).toBeGreaterThan(20)
    expect(shown.length).toBeGreaterThan(keys.length + 10)
    const log = runtime.logLines.join('\n')
    expect(log).toContain('API request failed')
    expect(log.match(SECRET)).toBeNull()
  })
})
