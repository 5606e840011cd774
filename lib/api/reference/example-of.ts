import { z } from 'zod'
import type { Json } from './describe-schema.ts'

const ID = '019ab1c2-7d3e-7a41-9c55-2f0e8d6b1a90'

/** Examples by field name, where the name says more than the type. */
const BY_NAME: Record<string, unknown> = {
  pipeId: 'pipe_k3v6q2m7x4ra5tzw2n6c',
  name: 'Video uploads',
  filename: 'harbour-at-dawn.mp4',
  filetype: 'video/mp4',
  subject: 'user-42',
  sender: 'web backend',
  url: 'https://example.com/webhooks/sluice',
  uploadUrl: 'https://sluice.example.com/pipes/pipe_k3v6q2m7x4ra5tzw2n6c/files/',
  token: 'tmp_…',
  key: 'ak_…',
  secret: 'whsec_…',
  email: 'ada@example.com',
  host: 'files.example.com',
  bucket: 'media',
  prefix: 'uploads/',
  region: 'eu-central-1',
  endpoint: 'https://s3.eu-central-1.amazonaws.com',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: '…',
  keyTemplate: '{file_id}/{filename}',
  checksum: 'crc32:0d4a1185',
  month: '2026-11',
  publicKey:
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDDwjFNk0lSZdA2D6RW7zlHAHG5+7c14gJ43XgFLvE6y ada@workstation',
  visitor: 'yW3mS0c8kQ5nZ1vTq7xB2dLr9hGf4aJpE6uXoNiMt_0',
  etag: '"9b2cf535f27731c974343645a3985328"',
  last4: 'x7Qp',
  nextCursor: null,
  protocol: 'tus',
  requestBody: '{"event":"file.status_changed",…}',
}

export function exampleOf(schema: z.ZodType, io: 'input' | 'output'): unknown {
  return sampleOf(z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json, io)
}

function sampleOf(json: Json, io: 'input' | 'output', name = ''): unknown {
  if (json.example !== undefined) return json.example
  if (json.const !== undefined) return json.const
  if (json.enum) return json.enum[0]
  const several = json.anyOf ?? json.oneOf
  if (name in BY_NAME && !json.properties && json.type !== 'array') return BY_NAME[name]
  if (several) return sampleOf(several.find(({ type }) => type !== 'null') ?? several[0]!, io, name)
  const type = Array.isArray(json.type) ? json.type[0] : json.type
  if (json.properties) return objectOf(json, io)
  if (type === 'array') return json.items ? [sampleOf(json.items, io, name)] : []
  if (type === 'integer' || type === 'number') return json.default ?? Math.max(json.minimum ?? 1, 1)
  if (type === 'boolean') return json.default ?? true
  if (type === 'object') return {}
  return textOf(json.format)
}

/** Only the required fields of a request; all fields of a response. */
function objectOf({ properties = {}, required = [] }: Json, io: 'input' | 'output'): Record<string, unknown> {
  const shown = Object.entries(properties).filter(([name]) => io === 'output' || required.includes(name))
  return Object.fromEntries(shown.map(([name, property]) => [name, sampleOf(property, io, name)]))
}

function textOf(format: string | undefined): string {
  if (format === 'uuid') return ID
  if (format === 'date-time') return '2026-11-22T09:24:11.000Z'
  if (format === 'date') return '2026-11-22'
  if (format === 'base64') return 'iVBORw0KGgo='
  return '…'
}

/** The example value of a path parameter. */
export const PATH_EXAMPLE = (path: string, name: string) =>
  path.startsWith('/pipes/') && name === 'id' ? (BY_NAME.pipeId as string) : ID
