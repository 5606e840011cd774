import type { DestinationStatus, FileStatus } from '#drizzle/schema/files.ts'

/** What a `file.status_changed` tells. The names inside `data` are those of the specification. */
export type FileEvent = {
  id: string
  at: Date
  test?: true
  file: {
    id: string
    pipeId: string
    filename: string
    filetype: string | null
    status: FileStatus
    sizeBytes: number
    senderName: string
    protocol: string
    subject: string | null
    metadata: Record<string, string>
    uploadMetadata: Record<string, string>
    /** Of the whole object, where it is there. */
    crc32: number | null
    destinations: {
      dataStoreId: string
      status: DestinationStatus
      bucket: string
      key: string
      etag: string | null
      certainty?: string | null
    }[]
  }
}

/** The body, written once: every attempt sends these bytes. */
export function fileEventBody({ id, at, test, file }: FileEvent): string {
  return JSON.stringify({
    id,
    event: 'file.status_changed',
    timestamp: at.toISOString(),
    ...(test && { test }),
    data: {
      pipe_id: file.pipeId,
      file_id: file.id,
      filename: file.filename,
      filetype: file.filetype,
      status: file.status,
      size: file.sizeBytes,
      sender: file.senderName,
      protocol: file.protocol,
      subject: file.subject,
      metadata: file.metadata,
      uploadMetadata: file.uploadMetadata,
      checksum: file.crc32 === null ? null : `crc32:${file.crc32.toString(16).padStart(8, '0')}`,
      destinations: file.destinations.map(({ dataStoreId, ...rest }) => ({
        destinationId: dataStoreId,
        status: rest.status,
        bucket: rest.bucket,
        key: rest.key,
        etag: rest.etag,
        ...(rest.certainty === 'unknown' && { reason: 'unknown' }),
      })),
    },
  })
}
