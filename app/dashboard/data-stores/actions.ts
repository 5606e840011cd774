'use server'

import { redirect } from 'next/navigation'
import type { BucketCheck } from '#drizzle/schema/index.ts'
import { readLocalDemo } from '#lib/dashboard/demo/local-demo.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import type { Runtime } from '#lib/platform/runtime.ts'
import {
  checkBucket,
  checkChanges,
  checkDataStore,
  checkSavedDataStore,
} from '#lib/workspace/data-stores/check-data-store.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { credentialsFields } from '#lib/workspace/data-stores/credentials-fields.ts'
import {
  type DataStoreInput,
  dataStoreChanges,
  dataStoreInput,
} from '#lib/workspace/data-stores/data-store.ts'
import { deleteDataStore } from '#lib/workspace/data-stores/delete-data-store.ts'
import { updateDataStore } from '#lib/workspace/data-stores/update-data-store.ts'
import { act } from '../../actions/act.ts'
import { assertConfirmed, textOf } from '../../actions/form-fields.ts'

/** Checks the Data Store, and saves it if uploads would work or the user chose to save it anyway. */
export async function connect(_previous: unknown, data: FormData) {
  return act<{ refused?: BucketCheck }>('administer', data, async (runtime, actor) => {
    const input = parseInput(dataStoreInput, await read(data))
    // Nobody can trust a Data Store that does not exist yet.
    if (!saveAnyway(data) && !input.federation && !input.assumedRole) {
      const found = await checkBucket(runtime, actor, input)
      if (!found.ok) return { data: { refused: found } }
    }
    return create(runtime, actor, input)
  })
}

/** Connects the demo's bucket. */
export async function connectLocal() {
  return act('administer', async (runtime, actor) => {
    const { bucket } = await readLocalDemo(runtime)
    const { name, endpoint, region, accessKeyId, secretAccessKey } = bucket
    const place = { provider: 'other', endpoint, region, bucket: name, forcePathStyle: true }
    const given = { ...place, name: 'Bucket on this server', accessKeyId, secretAccessKey }
    return create(runtime, actor, parseInput(dataStoreInput, given))
  })
}

async function create(runtime: Runtime, actor: Actor, input: DataStoreInput): Promise<never> {
  const store = await createDataStore(runtime, actor, input)
  await checkSavedDataStore(runtime, actor, store)
  redirect(`/dashboard/data-stores/${store.id}`)
}

/** Keys that do not work would end every upload in progress, so they only replace others if the user chose that. */
export async function update(id: string, _previous: unknown, data: FormData) {
  return act<{ refused?: BucketCheck }>('administer', data, async (runtime, actor) => {
    // An empty field keeps the current credentials.
    const given = Object.entries(await read(data)).filter(
      ([name, value]) => value || !(name in credentialsFields),
    )
    const changes = parseInput(dataStoreChanges, Object.fromEntries(given))
    if (!saveAnyway(data)) {
      const found = await checkChanges(runtime, actor, id, changes)
      if (!found.ok) return { data: { refused: found } }
    }
    await updateDataStore(runtime, actor, id, changes)
    const { check } = await checkDataStore(runtime, actor, id)
    return { message: check?.ok ? 'Saved and checked.' : 'Saved.', data: {} }
  })
}

export async function check(id: string) {
  return act('operate', async (runtime, actor) => {
    await checkDataStore(runtime, actor, id)
  })
}

export async function remove(id: string, _previous: unknown, data: FormData) {
  return act('administer', data, async (runtime, actor) => {
    assertConfirmed(data)
    await deleteDataStore(runtime, actor, id)
    redirect('/dashboard/data-stores')
  })
}

/** Whether the user pressed the button that appears after a failed check. */
function saveAnyway(data: FormData): boolean {
  return data.get('anyway') === 'on'
}

async function read(data: FormData) {
  const encryption = textOf(data, 'encryption')
  const keyFile = data.get('keyFile')
  const uploaded = keyFile instanceof File && keyFile.size > 0 ? await keyFile.text() : undefined
  return {
    name: textOf(data, 'name'),
    provider: textOf(data, 'provider'),
    endpoint: textOf(data, 'endpoint'),
    region: textOf(data, 'region'),
    bucket: textOf(data, 'bucket'),
    prefix: textOf(data, 'prefix') ?? '',
    forcePathStyle: data.get('forcePathStyle') === 'on',
    accessKeyId: textOf(data, 'accessKeyId'),
    secretAccessKey: textOf(data, 'secretAccessKey'),
    // If neither was given, the error belongs to this field.
    serviceAccountKey:
      data.get('credentials') === 'file' ? (textOf(data, 'serviceAccountKey') ?? uploaded ?? '') : undefined,
    storageAccountKey: textOf(data, 'storageAccountKey'),
    sasToken: textOf(data, 'sasToken'),
    // If none was given, the error belongs to this field.
    ...(data.get('credentials') === 'server' && { assumedRole: textOf(data, 'assumedRole') ?? '' }),
    ...(data.get('credentials') === 'federation' && { federation: federationOf(data) }),
    storageClass: textOf(data, 'storageClass') ?? null,
    encryption: encryptionOf(encryption, textOf(data, 'kmsKeyId')),
  }
}

function federationOf(data: FormData) {
  const names = ['role', 'tenantId', 'clientId', 'identityProvider', 'serviceAccount']
  const given = names.map((name) => [name, textOf(data, `federation.${name}`)])
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

function encryptionOf(type: string | undefined, keyId: string | undefined) {
  if (type === undefined || type === 'none') return null
  return type === 'SSE-KMS' ? { type, keyId: keyId ?? '' } : { type }
}
