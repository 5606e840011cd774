import { expect, it } from 'vitest'
import { fileEventSchema } from './event-schemas.ts'
import { fileEventBody } from './file-event.ts'

const ID = '019a0000-0000-7000-8000-000000000001'
const event: Parameters<typeof fileEventBody>[0] = {
  id: ID,
  at: new Date('2026-11-05T10:00:00.007Z'),
  file: {
    id: ID,
    pipeId: 'pipe_aaaaaaaaaaaaaaaaaaaa',
    filename: 'a "film"\n.mp4',
    filetype: null,
    status: 'transferred',
    sizeBytes: 2 ** 45,
    senderName: 'Backend',
    protocol: 'tus',
    subject: null,
    metadata: {},
    uploadMetadata: { __proto__: 'x', été: '📷' },
    crc32: 0x1a,
    destinations: [
      { dataStoreId: ID, status: 'transferred', bucket: 'media', key: 'a/b', etag: null, required: true },
    ],
  },
}

it('matches its published schema', () => {
  const body = JSON.parse(fileEventBody(event))
  expect(fileEventSchema.strict().parse(body)).toEqual(body)
  expect(body).toMatchObject({
    timestamp: '2026-11-05T10:00:00.007Z',
    data: { checksum: 'crc32:0000001a', size: 2 ** 45 },
  })
  expect(body).not.toHaveProperty('test')
  const test = JSON.parse(fileEventBody({ ...event, test: true }))
  expect(fileEventSchema.parse(test)).toMatchObject({ test: true })
})

it('has the members of Standard Webhooks', () => {
  const { type, timestamp, data, event: name } = JSON.parse(fileEventBody(event))
  expect([type, timestamp, data.status]).toEqual([name, '2026-11-05T10:00:00.007Z', 'transferred'])
})

it('has no checksum if there is no object', () => {
  expect(
    JSON.parse(fileEventBody({ ...event, file: { ...event.file, crc32: null } })).data.checksum,
  ).toBeNull()
})
