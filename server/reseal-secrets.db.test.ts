import { expect, it } from 'vitest'
import { acmeAccounts, dataStores, linkHosts, webhookOutputs } from '#drizzle/schema/index.ts'
import { handleApiRequest } from '../lib/api/handle-request.ts'
import { ensureDemo } from '../lib/dashboard/demo/ensure-demo.ts'
import { parseInput } from '../lib/platform/kernel/parse-input.ts'
import { createVault } from '../lib/platform/vault.ts'
import { accountKeyPlace, certificateKeyPlace } from '../lib/upload-links/host-certificates.ts'
import { createOutput, saveOutput } from '../lib/webhooks/outputs/save-output.ts'
import { openSecrets, rotateSecret } from '../lib/webhooks/outputs/signing-secrets.ts'
import { openHeaders } from '../lib/webhooks/outputs/static-headers.ts'
import { outputInput } from '../lib/webhooks/outputs/webhook-output.ts'
import { accessKeyPlace, secretKeyPlace } from '../lib/workspace/data-stores/credentials.ts'
import { describeWithDatabase } from '../test/support/databases.ts'
import { testRuntime } from '../test/support/runtime.ts'
import { createTestWorkspace } from '../test/support/workspace.ts'
import { resealSecrets } from './reseal-secrets.ts'

const NEW_KEY = Buffer.alloc(32, 8)

describeWithDatabase('a new ENCRYPTION_KEY', (database) => {
  it('reseals every secret, so that the old key can be dropped', async () => {
    const runtime = testRuntime(database(), { DATA_DIR: `/tmp/sluice-reseal-${process.pid}` })
    const mine = await createTestWorkspace(runtime)
    const output = { enabled: true, url: 'http://127.0.0.1:1/', statuses: ['transferred' as const] }
    const first = await saveOutput(runtime, mine.actor, mine.pipe.id, output)
    const headers = { 'X-Api-Key': 'a secret of the receiver' }
    const further = await createOutput(
      runtime,
      mine.actor,
      { pipeId: mine.pipe.id },
      parseInput(outputInput, { url: output.url, headers }),
    )
    const second = await rotateSecret(runtime, mine.actor, { firstOf: mine.pipe.id })
    const reader = { accessKeyId: 'R', secretAccessKey: 'reader-secret' }
    const place = { endpoint: 'http://127.0.0.1:1', region: 'r', name: 'demo', directory: '/d' }
    const demo = { bucket: { ...place, accessKeyId: 'P', secretAccessKey: 'put-secret', reader } }
    const document = await ensureDemo(runtime, demo)
    const create = (vault: typeof runtime.vault) => {
      const headers = {
        Authorization: `Bearer ${mine.accountKey.key}`,
        'Idempotency-Key': 'k',
        'Content-Type': 'application/json',
      }
      const request = new Request('http://localhost:3000/api/v1/senders', {
        method: 'POST',
        headers,
        body: '{"name":"Once"}',
      })
      return handleApiRequest({ ...runtime, vault }, request).then((response) => response.json())
    }
    const created = await create(runtime.vault)
    const { workspaceId } = mine
    const certificateKey = runtime.vault.seal('a certificate', certificateKeyPlace(workspaceId))
    await runtime.db.insert(linkHosts).values({ workspaceId, host: 'files.example.com', certificateKey })
    const directory = 'https://ca.example/dir'
    const sealed = runtime.vault.seal('an account', accountKeyPlace(directory))
    await runtime.db.insert(acmeAccounts).values({ directory, sealed, freeAt: new Date() })

    const both = createVault([NEW_KEY, ...runtime.config.encryptionKeys])
    expect(await resealSecrets(runtime.db, both)).toBeGreaterThanOrEqual(11)
    expect(await resealSecrets(runtime.db, both)).toBe(0)

    const vault = createVault([NEW_KEY])
    for (const row of await runtime.db.select().from(dataStores)) {
      vault.open(row.accessKeyIdEncrypted, accessKeyPlace(row.id))
      vault.open(row.secretAccessKeyEncrypted, secretKeyPlace(row.id))
    }
    const outputs = await runtime.db.select().from(webhookOutputs)
    const own = outputs.find(({ pipeId }) => pipeId === mine.pipe.id)!
    expect(openSecrets(vault, own, runtime.clock.now())).toEqual([second.secret, first.secret])
    expect(openHeaders(vault, outputs.find(({ id }) => id === further.id)!)).toEqual(headers)
    expect(await ensureDemo({ ...runtime, vault }, demo)).toEqual(document)
    expect(await create(vault)).toEqual(created)
    const [host] = await runtime.db.select().from(linkHosts)
    expect(vault.open(host!.certificateKey!, certificateKeyPlace(workspaceId))).toBe('a certificate')
    const [account] = await runtime.db.select().from(acmeAccounts)
    expect(vault.open(account!.sealed, accountKeyPlace(directory))).toBe('an account')
  })
})
