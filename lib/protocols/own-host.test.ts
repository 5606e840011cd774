import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { testRuntime } from '../../test/support/runtime.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { newPipeId, uuidv7 } from '../platform/kernel/ids.ts'
import { runRequest } from '../platform/kernel/request-context.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { createUploadHandler } from './create-upload-handler.ts'

it("retries an offset request on a workspace's own host if the database does not respond", async () => {
  let statements = 0
  const where = async () => {
    statements += 1
    if (statements === 1) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    return [{ id: 'found' }]
  }
  const runtime = testRuntime({} as never)
  const handle = createUploadHandler(runtime, {
    db: { select: () => ({ from: () => ({ where }) }) },
    leases: { incoming: { passed: async () => {} } },
    rights: {
      toContinue: async () => {
        throw new SluiceError('upload_gone')
      },
    },
  } as unknown as UploadContext)
  const linkHost = { workspaceId: uuidv7(), origin: 'http://files.example.com' }
  const server = createServer((req, res) => {
    void runRequest({ id: 'r', traceparent: undefined, notes: {}, linkHost }, () => handle(req, res))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const headers = { 'Tus-Resumable': '1.0.0', Authorization: 'Bearer tmp_x' }
  const url = `http://127.0.0.1:${port}/pipes/${newPipeId()}/files/${uuidv7()}`
  expect((await fetch(url, { method: 'HEAD', headers })).status).toBe(410)
  expect(statements).toBe(2)
  server.close()
})
