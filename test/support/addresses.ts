import { expect } from 'playwright/test'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { makeKeyPair } from '#lib/sftp/make-key-pair.ts'
import { api } from './api.ts'
import { beginUpload, tokenFor, uploadEmpty } from './begin-upload.ts'

/**
 * Creates the object that an address's placeholder refers to, such as the file in `/dashboard/files/{fileId}`, and
 * fills in its id.
 */
export async function fillIn(address: string, demo: DemoDocument): Promise<string> {
  const [place, name] = address.match(/\{(\w+)\}/) ?? []
  return place ? address.replace(place, await IDS[name!]!(demo)) : address
}

const IDS: Record<string, (demo: DemoDocument) => Promise<string> | string> = {
  pipeId: ({ pipeId }) => pipeId,
  dataStoreId: ({ dataStoreId }) => dataStoreId,
  senderId: async (demo) => {
    const sender = await api<{ id: string; token: string }>(demo, 'POST', '/senders', { name: 'Looked at' })
    await tokenFor(demo.baseUrl, sender.token, demo.pipeId)
    const publicKey = makeKeyPair().public
    await api(demo, 'POST', `/senders/${sender.id}/keys`, { name: 'Looked at', publicKey })
    return sender.id
  },
  fileId: async (demo) => {
    const filename = `looked-at-${Date.now()}.bin`
    await beginUpload(await tokenFor(demo.baseUrl, demo.senderToken, demo.pipeId), filename)
    return newest(demo, `/files?filename=${filename}`)
  },
  deliveryId: async (demo) => {
    const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', {
      name: 'Looked at',
      dataStoreId: demo.dataStoreId,
      source: { http: true },
    })
    const { url } = await api<{ url: string }>(demo, 'GET', `/pipes/${demo.pipeId}/webhook`)
    await api(demo, 'PUT', `/pipes/${pipe.id}/webhook`, { url, enabled: true, statuses: [] })
    await api(demo, 'POST', `/pipes/${pipe.id}/webhook/test`)
    const id = await newest(demo, `/deliveries?pipeId=${pipe.id}`)
    // The delivery's page keeps changing until it has been delivered.
    const stateOf = async () => (await api<{ state: string }>(demo, 'GET', `/deliveries/${id}`)).state
    await expect.poll(stateOf).toBe('delivered')
    return id
  },
  outputId: async (demo) => (await api<{ id: string }>(demo, 'GET', `/pipes/${demo.pipeId}/webhook`)).id,
  refusedPipeId: makeRefusedPipe,
}

/** Creates a Pipe with a failed event: nothing exists at its webhook's address. */
export async function makeRefusedPipe(demo: DemoDocument): Promise<string> {
  const fields = { name: 'Refused', dataStoreId: demo.dataStoreId, source: { http: true } }
  const { id } = await api<{ id: string }>(demo, 'POST', '/pipes', fields)
  const webhook = { url: `${demo.baseUrl}/nowhere`, enabled: true, statuses: [] }
  await api(demo, 'PUT', `/pipes/${id}/webhook`, webhook)
  await uploadEmpty(await tokenFor(demo.baseUrl, demo.senderToken, id), 'refused')
  return id
}

async function newest(demo: DemoDocument, path: string): Promise<string> {
  const { data } = await api<{ data: { id: string }[] }>(demo, 'GET', path)
  return data[0]!.id
}
