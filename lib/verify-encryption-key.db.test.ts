import { sql } from 'drizzle-orm'
import { afterEach, expect, it } from 'vitest'
import { describeWithDatabase } from '../e2e/parts/databases.ts'
import { testRuntime } from '../e2e/parts/runtime.ts'
import { createTestWorkspace } from '../e2e/parts/workspace.ts'
import { resealSecrets } from './reseal-secrets.ts'
import { createVault } from './vault.ts'
import { verifyEncryptionKey } from './verify-encryption-key.ts'

const key = (byte: number) => Buffer.alloc(32, byte)
const [OLD, NEW, WRONG] = [key(7), key(8), key(9)]
const REFUSAL = /ENCRYPTION_KEY is not the one .* No key of ENCRYPTION_KEY opens this secret/

describeWithDatabase('a start with an ENCRYPTION_KEY', (database) => {
  const start = (...keys: Buffer[]) => verifyEncryptionKey(database().db, createVault(keys))
  afterEach(() => database().db.execute(sql`delete from sealed_canary`))

  it('that sealed nothing here is refused', async () => {
    await start(OLD)
    await start(OLD)
    await expect(start(WRONG)).rejects.toThrow(REFUSAL)
    expect(await start(WRONG).catch((error) => error.name)).toBe('StartError')
  })

  it('goes through all steps of a rotation, and no shorter', async () => {
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

  it('is judged by a Data Store where none was sealed for it yet', async () => {
    await createTestWorkspace(testRuntime(database()))
    await expect(start(WRONG)).rejects.toThrow(REFUSAL)
    await start(OLD)
    await expect(start(WRONG)).rejects.toThrow(REFUSAL)
  })
})
