import { eq, sql } from 'drizzle-orm'
import { afterEach, expect, it } from 'vitest'
import { dataStores, webhookOutputs } from '#drizzle/schema/index.ts'
import { createVault } from '../lib/platform/vault.ts'
import { saveOutput } from '../lib/webhooks/outputs/save-output.ts'
import { openSecrets, revealSecret, rotateSecret } from '../lib/webhooks/outputs/signing-secrets.ts'
import { showDataStore } from '../lib/workspace/data-stores/read-data-stores.ts'
import { updateDataStore } from '../lib/workspace/data-stores/update-data-store.ts'
import { describeWithDatabase } from '../test/support/databases.ts'
import { testRuntime } from '../test/support/runtime.ts'
import { createTestWorkspace } from '../test/support/workspace.ts'
import { openVault } from './open-vault.ts'
import { resealSecrets } from './reseal-secrets.ts'

const key = (byte: number) => Buffer.alloc(32, byte)
const [OLD, NEW, WRONG] = [key(7), key(8), key(9)]
const REFUSAL = /ENCRYPTION_KEY is not the one .* No key in ENCRYPTION_KEY opens this secret/
const OUTPUT = { enabled: true, url: 'http://127.0.0.1:1/', statuses: ['transferred' as const] }

describeWithDatabase('a start with an ENCRYPTION_KEY', (database) => {
  const start = (...keys: Buffer[]) => openVault(database().db, keys)
  afterEach(() => database().db.execute(sql`delete from sealed_canary`))

  it('is refused if this database was used with another key', async () => {
    await start(OLD)
    await start(OLD)
    await expect(start(WRONG)).rejects.toThrow(REFUSAL)
    expect(await start(WRONG).catch((error) => error.name)).toBe('StartError')
  })

  it('succeeds in each step of a rotation, but not if a step is skipped', async () => {
    await start(OLD)
    for (const keys of [
      [OLD, NEW],
      [NEW, OLD],
    ])
      await start(...keys)
    await expect(start(NEW)).rejects.toThrow(REFUSAL)
    await resealSecrets(database().db, createVault([NEW, OLD]))
    await start(NEW)
    await expect(start(OLD)).rejects.toThrow(REFUSAL)
  })

  it('checks the key against a Data Store if no canary has been sealed yet', async () => {
    await createTestWorkspace(testRuntime(database()))
    await expect(start(WRONG)).rejects.toThrow(REFUSAL)
    await start(OLD)
    await expect(start(WRONG)).rejects.toThrow(REFUSAL)
  })
})

describeWithDatabase('secrets and their columns', (database) => {
  const olderRelease = createVault([OLD])
  afterEach(async () => {
    for (const table of ['sealed_canary', 'webhook_outputs', 'data_stores'])
      await database().db.execute(sql`delete from ${sql.identifier(table)}`)
  })

  /** A customer with a database that was created by an older release, or with a new one. */
  async function customer({ older }: { older: boolean }) {
    const runtime = testRuntime(database())
    const { db } = runtime
    if (older) {
      const sealed = olderRelease.seal('Sluice sealed this.', 'sealed_canary:canary')
      await db.execute(sql`insert into sealed_canary (id, sealed) values ('canary', ${sealed})`)
    }
    const start = async () => ({ ...runtime, vault: await openVault(db, [OLD]) })
    const node = await start()
    const mine = await createTestWorkspace(node)
    const { secret } = await saveOutput(node, mine.actor, mine.pipe.id, OUTPUT)
    const rotated = await rotateSecret(node, mine.actor, { firstOf: mine.pipe.id })
    const rowsNow = async () => {
      const [store] = await db.select().from(dataStores).where(eq(dataStores.id, mine.dataStore.id))
      const [output] = await db.select().from(webhookOutputs).where(eq(webhookOutputs.pipeId, mine.pipe.id))
      return { store: store!, output: output! }
    }
    return { db, node, start, mine, secrets: [rotated.secret, secret], rowsNow }
  }

  it('are bound to their columns from the first start, and do not open if swapped', async () => {
    const { db, node, mine, secrets, rowsNow } = await customer({ older: false })
    const { store, output } = await rowsNow()
    expect(openSecrets(node.vault, output, node.clock.now())).toEqual(secrets)
    await db.execute(sql`update data_stores set access_key_id_encrypted = secret_access_key_encrypted,
      secret_access_key_encrypted = access_key_id_encrypted where id = ${store.id}`)
    await expect(showDataStore(node, mine.actor, store.id)).rejects.toThrow()
    await db.execute(sql`update webhook_outputs set secret_encrypted = previous_secret_encrypted,
      previous_secret_encrypted = secret_encrypted where id = ${output.id}`)
    await expect(revealSecret(node, mine.actor, { firstOf: mine.pipe.id })).rejects.toThrow()
  })

  it('do not open in another row', async () => {
    const { db, node, rowsNow } = await customer({ older: false })
    const { store } = await rowsNow()
    const stranger = await createTestWorkspace(node)
    await db.execute(sql`update data_stores set access_key_id_encrypted = ${store.accessKeyIdEncrypted}
      where id = ${stranger.dataStore.id}`)
    await expect(showDataStore(node, stranger.actor, stranger.dataStore.id)).rejects.toThrow()
  })

  it('are written in a format that an older release can open, until rotate-keys has run', async () => {
    const { db, node, start, mine, secrets, rowsNow } = await customer({ older: true })
    const before = await rowsNow()
    for (const [sealed, context] of [
      [before.store.accessKeyIdEncrypted, `data_store:${before.store.id}`],
      [before.store.secretAccessKeyEncrypted, `data_store:${before.store.id}`],
      [before.output.secretEncrypted, `webhook_output:${before.output.id}`],
      [before.output.previousSecretEncrypted!, `webhook_output:${before.output.id}`],
    ] as const)
      olderRelease.open(sealed, context)

    expect(await resealSecrets(db, await openVault(db, [OLD]))).toBe(5)
    const after = await rowsNow()
    expect(openSecrets(node.vault, after.output, node.clock.now())).toEqual(secrets)
    expect(() =>
      olderRelease.open(after.output.secretEncrypted, `webhook_output:${after.output.id}`),
    ).toThrow()
    // A node that was already running immediately writes the new format.
    await updateDataStore(node, mine.actor, after.store.id, { secretAccessKey: 'another' })
    const restarted = await start()
    const bound = await rowsNow()
    expect(
      restarted.vault.isCurrent(bound.store.secretAccessKeyEncrypted, {
        column: 'data_stores.secret_access_key_encrypted',
        id: bound.store.id,
        row: '',
      }),
    ).toBe(true)
    expect(await showDataStore(restarted, mine.actor, bound.store.id)).toMatchObject({
      accessKeyId: 'AKIAEXAMPLE',
    })

    // A copy of a secret from before the rotation no longer opens in any column.
    await db.execute(sql`update data_stores set access_key_id_encrypted = ${before.store.secretAccessKeyEncrypted}
      where id = ${bound.store.id}`)
    await expect(showDataStore(restarted, mine.actor, bound.store.id)).rejects.toMatchObject({
      code: 'unavailable',
    })
    await expect(start().then(({ vault }) => resealSecrets(db, vault))).rejects.toMatchObject({
      code: 'unavailable',
    })
  })

  it('are written in the old format if a database without a canary has secrets that are bound only to rows', async () => {
    const { db, node, mine, rowsNow } = await customer({ older: true })
    await db.execute(sql`delete from sealed_canary`)
    await openVault(db, [OLD])
    await updateDataStore(node, mine.actor, mine.dataStore.id, { secretAccessKey: 'another' })
    const { store } = await rowsNow()
    expect(olderRelease.open(store.secretAccessKeyEncrypted, `data_store:${store.id}`)).toBe('another')
  })
})
