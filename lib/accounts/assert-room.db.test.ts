import { eq, sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { accountKeys, senders } from '#drizzle/schema/index.ts'
import { onBothDatabases } from '../../e2e/parts/databases.ts'
import { testRuntime } from '../../e2e/parts/runtime.ts'
import { createTestWorkspace } from '../../e2e/parts/workspace.ts'
import { createDataStore } from '../data-stores/create-data-store.ts'
import { dataStoreInput } from '../data-stores/data-store.ts'
import { parseInput } from '../kernel/parse-input.ts'
import { createPipe } from '../pipes/create-pipe.ts'
import { pipeInput } from '../pipes/pipe.ts'
import { createSender } from '../senders/create-sender.ts'
import { revokeSender } from '../senders/revoke-sender.ts'
import { createAccountKey } from './create-account-key.ts'

onBothDatabases('what a workspace may have', (database) => {
  it('has a bound, which the refusal names; one less makes room. Pipes have none', async () => {
    const runtime = testRuntime(database())
    const [mine, other] = [await createTestWorkspace(runtime), await createTestWorkspace(runtime)]
    const { workspaceId, actor, dataStore, sender } = mine
    const fill = (table: string, columns: string, values: string, most: number) =>
      runtime.db.execute(
        sql.raw(`insert into ${table} (id, workspace_id, name, ${columns})
          select ${values} from generate_series(2, ${most}) n`),
      )
    const id = `gen_random_uuid(), '${workspaceId}', 'n'`
    await fill('senders', 'token_hash, token_last4', `${id}, gen_random_uuid(), 'last'`, 1000)
    await fill('account_keys', 'key_hash, last4', `${id}, gen_random_uuid(), 'last'`, 500)
    await fill(
      'pipes',
      'key_template, upload_expiry_seconds',
      `'pipe_' || gen_random_uuid(), '${workspaceId}', 'n', '', 1`,
      1000,
    )
    await fill(
      'data_stores',
      'provider, endpoint, region, bucket, force_path_style, access_key_id_encrypted, secret_access_key_encrypted',
      `${id}, 'other', '', '', '', true, '', ''`,
      500,
    )
    const store = { name: 'S', provider: 'gcs', bucket: 'media', accessKeyId: 'K', secretAccessKey: 'secret' }
    const tries: [Promise<unknown>, string][] = [
      [createSender(runtime, actor, { name: 'One more' }), '1000 Senders'],
      [createAccountKey(runtime, actor, { name: 'One more' }), '500 account keys'],
      [createDataStore(runtime, actor, parseInput(dataStoreInput, store)), '500 Data Stores'],
    ]
    const outcomes = await Promise.allSettled(tries.map(([tried]) => tried))
    for (const [n, [, words]] of tries.entries()) {
      expect(outcomes[n]).toMatchObject({ reason: { code: 'conflict' } })
      expect(String((outcomes[n] as PromiseRejectedResult).reason.message)).toContain(words)
    }
    const pipe = { name: 'P', dataStoreId: dataStore.id }
    await createPipe(runtime, actor, parseInput(pipeInput, pipe))
    await revokeSender(runtime, actor, sender.id)
    await createSender(runtime, actor, { name: 'One more' })
    await createSender(runtime, other.actor, { name: 'Of another' })
    const count = (table: typeof senders | typeof accountKeys) =>
      runtime.db.$count(table, eq(table.workspaceId, workspaceId))
    expect([await count(senders), await count(accountKeys)]).toEqual([1001, 500])
  })
})
