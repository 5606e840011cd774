import { expect, it } from 'vitest'
import { rateLimits } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { createTestWorkspace } from '../../test/support/workspace.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import { createDataStore } from '../workspace/data-stores/create-data-store.ts'
import { dataStoreInput } from '../workspace/data-stores/data-store.ts'
import { createPipe } from '../workspace/pipes/create-pipe.ts'
import { pipeInput } from '../workspace/pipes/pipe.ts'
import { createSender } from '../workspace/senders/create-sender.ts'
import { createAccountKey } from './accounts/account-keys.ts'

describeWithDatabase('creation in a workspace', (database) => {
  it('is rate-limited separately for each workspace', async () => {
    const runtime = testRuntime(database())
    const [mine, other] = [await createTestWorkspace(runtime), await createTestWorkspace(runtime)]
    const store = { name: 'S', provider: 'gcs', bucket: 'media', accessKeyId: 'K', secretAccessKey: 'secret' }
    const verbs: Record<string, (of: typeof mine) => Promise<unknown>> = {
      Senders: ({ actor }) => createSender(runtime, actor, { name: 'One more' }),
      'account keys': ({ actor }) => createAccountKey(runtime, actor, { name: 'One more' }),
      'Data Stores': ({ actor }) => createDataStore(runtime, actor, parseInput(dataStoreInput, store)),
      Pipes: ({ actor, dataStore }) =>
        createPipe(runtime, actor, parseInput(pipeInput, { name: 'P', dataStoreId: dataStore.id })),
    }
    const now = new Date(runtime.clock.now())
    for (const [what, make] of Object.entries(verbs)) {
      const used = { tokens: 0, updatedAt: now }
      await runtime.db
        .insert(rateLimits)
        .values({ key: `create:${what}:${mine.workspaceId}`, ...used })
        .onConflictDoUpdate({ target: rateLimits.key, set: used })
      await expect(make(mine), what).rejects.toMatchObject({ code: 'rate_limited' })
      await make(other)
    }
    runtime.clock.advance(10_000)
    for (const make of Object.values(verbs)) await make(mine)
  })
})
