import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import type { DrippingBucket } from './dripping-bucket.ts'
import { openPatch, tusClient } from './tus-client.ts'
import type { Site } from './upload-site.ts'
import { makeReady } from './workspace.ts'

const STORES = 12
const UPLOADS = 40

/** Simulates a tenant who tries to use up all memory with uploads to Data Stores whose responses never end. */
export async function starve(url: string, attacker: Site, bucket: DrippingBucket, body: Buffer) {
  const clients = await Promise.all(
    Array.from({ length: STORES }, (_, n) => openPipe(url, attacker, bucket, n)),
  )
  const patches = await Promise.all(
    Array.from({ length: UPLOADS }, async (_, n) => {
      const client = clients[n % STORES]!
      const { headers } = await client.create(body.length)
      const patch = openPatch(client, headers.location!, { offset: 0, length: body.length })
      void patch.write(body)
      return patch
    }),
  )
  return {
    stop: () => {
      for (const patch of patches) patch.cut()
    },
  }
}

/** Creates one of the attacker's Pipes, with its own Data Store. */
async function openPipe(url: string, attacker: Site, bucket: DrippingBucket, n: number) {
  const { runtime, actor } = attacker
  const dataStore = await createDataStore(runtime, actor, {
    name: `Bucket ${n}`,
    provider: 'minio',
    endpoint: bucket.endpoint,
    region: 'eu-west-1',
    bucket: `media-${n}`,
    forcePathStyle: true,
    accessKeyId: 'A',
    secretAccessKey: 'secret',
  })
  await makeReady(runtime.db, dataStore)
  const fields = { name: `Pipe ${n}`, dataStoreId: dataStore.id, source: { http: true } }
  const pipe = await createPipe(runtime, actor, parseInput(pipeInput, fields))
  return tusClient({ url, pipeId: pipe.id, token: await attacker.token({ pipeId: pipe.id }) })
}
