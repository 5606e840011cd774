import { sql } from 'drizzle-orm'
import type { Hook } from '#drizzle/schema/index.ts'
import { ENDED_FILE, type EndedFile } from '../events/file-event.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { uuidv7, uuidv7Ms } from '../platform/kernel/ids.ts'
import type { Asked } from '../uploads/upload-context.ts'

/**
 * The questions that receivers are asked. A question has the same id and the same bytes in every attempt, even from
 * another node.
 */
export type Question = { id: string; body: string }

export function questionBefore({ fileId, token, pipe, declared }: Asked): Question {
  return question('before_create', fileId, uuidv7Ms(fileId), {
    pipe_id: pipe.id,
    file_id: fileId,
    filename: declared.filename,
    filetype: declared.filetype,
    size: declared.lengthBytes,
    sender: token.senderName,
    protocol: declared.protocol,
    subject: token.subject,
    metadata: token.metadata,
    uploadMetadata: declared.uploadMetadata,
    token: {
      id: token.id,
      keyPrefix: token.keyPrefix,
      maxBytes: token.maxBytes,
      maxFiles: token.maxFiles,
      allowedTypes: token.allowedTypes,
    },
  })
}

export function questionAfter(file: WholeFile): Question {
  return question('before_complete', file.id, file.lastByteMs, {
    pipe_id: file.pipeId,
    file_id: file.id,
    filename: file.filename,
    filetype: file.filetype,
    size: file.offsetBytes,
    sender: file.senderName,
    protocol: file.protocol,
    subject: file.subject,
    metadata: file.metadata,
    uploadMetadata: file.uploadMetadata,
    checksum: `crc32:${file.crc32!.toString(16).padStart(8, '0')}`,
    ...(file.sha256 && { sha256: file.sha256 }),
    destinations: file.destinations.map(({ dataStoreId, bucket, key, required }) => ({
      destinationId: dataStoreId,
      bucket,
      key,
      required,
    })),
  })
}

/** The id combines the file and the hook, so that a receiver that is asked twice recognizes the question. */
function question(hook: Hook, fileId: string, atMs: number, data: object): Question {
  const id = `${hook}-${fileId}`
  return { id, body: JSON.stringify({ id, hook, timestamp: new Date(atMs).toISOString(), data }) }
}

export type WholeFile = EndedFile & { lastByteMs: number }

export async function readFile(db: Db, fileId: string): Promise<WholeFile | undefined> {
  const [file] = await rows<WholeFile>(
    db,
    sql`select ${ENDED_FILE}, floor(extract(epoch from coalesce(f.last_byte_at, f.created_at)) * 1000)::float8 as "lastByteMs"
      from files f where f.id = ${fileId}::uuid`,
  )
  return file
}

type Place = { pipeId: string; dataStoreId: string }

/** A question like any other, but about a file that does not exist. */
export function exampleQuestion(hook: Hook, { pipeId, dataStoreId }: Place, atMs: number): Question {
  const fileId = uuidv7(atMs)
  const id = `test-${hook}-${fileId}`
  const file = {
    pipe_id: pipeId,
    file_id: fileId,
    filename: 'example.txt',
    filetype: 'text/plain',
    size: 13,
    sender: 'Test',
    protocol: 'tus',
    subject: null,
    metadata: {},
    uploadMetadata: {},
  }
  const own = {
    before_create: {
      token: { id: uuidv7(atMs), keyPrefix: '', maxBytes: null, maxFiles: null, allowedTypes: [] },
    },
    before_complete: {
      // The CRC32 of `Hello, world!`
      checksum: 'crc32:ebe6c6e6',
      destinations: [
        {
          destinationId: dataStoreId,
          bucket: 'example-bucket',
          key: `${fileId}/example.txt`,
          required: true,
        },
      ],
    },
  }
  const timestamp = new Date(atMs).toISOString()
  return { id, body: JSON.stringify({ id, hook, timestamp, test: true, data: { ...file, ...own[hook] } }) }
}
