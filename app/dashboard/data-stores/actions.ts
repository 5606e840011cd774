'use server'

import { redirect } from 'next/navigation'
import { checkDataStore } from '#lib/data-stores/check-data-store.ts'
import { createDataStore } from '#lib/data-stores/create-data-store.ts'
import { dataStoreChanges, dataStoreInput } from '#lib/data-stores/data-store.ts'
import { deleteDataStore } from '#lib/data-stores/delete-data-store.ts'
import { updateDataStore } from '#lib/data-stores/update-data-store.ts'
import { parseInput } from '#lib/kernel/parse-input.ts'
import { act } from '../../actions/act.ts'
import { textOf } from '../../actions/form-fields.ts'

/** Saves, then lets the check tell what these keys may do; its findings are on the Data Store's own page. */
export async function connect(data: FormData) {
  return act(async (runtime, actor) => {
    const store = await createDataStore(runtime, actor, parseInput(dataStoreInput, read(data)))
    await checkDataStore(runtime, actor, store.id)
    redirect(`/dashboard/data-stores/${store.id}`)
  })
}

export async function update(id: string, data: FormData) {
  return act(async (runtime, actor) => {
    const { accessKeyId, secretAccessKey, ...fields } = read(data)
    const credentials = { ...(accessKeyId && { accessKeyId }), ...(secretAccessKey && { secretAccessKey }) }
    await updateDataStore(runtime, actor, id, parseInput(dataStoreChanges, { ...fields, ...credentials }))
    await checkDataStore(runtime, actor, id)
    return { message: 'Saved and checked.' }
  })
}

export async function check(id: string) {
  return act(async (runtime, actor) => {
    await checkDataStore(runtime, actor, id)
  })
}

export async function remove(id: string) {
  return act(async (runtime, actor) => {
    await deleteDataStore(runtime, actor, id)
    redirect('/dashboard/data-stores')
  })
}

function read(data: FormData) {
  const encryption = textOf(data, 'encryption')
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
    storageClass: textOf(data, 'storageClass') ?? null,
    encryption: encryptionOf(encryption, textOf(data, 'kmsKeyId')),
  }
}

function encryptionOf(type: string | undefined, keyId: string | undefined) {
  if (type === undefined || type === 'none') return null
  return type === 'SSE-KMS' ? { type, keyId: keyId ?? '' } : { type }
}
