/**
 * A bucket, as far as uploads know one. Bodies are lists of chunks that stay as they are until the answer. Faults are
 * errors with a `kind`: see `bucketFault`.
 */
export type BucketLimits = {
  maxParts: number
  equalParts: boolean
  copyParts: boolean
  dropsUnfinishedAfterHours: number | null
}
export type Body = { chunks: readonly Uint8Array[]; bytes: number; crc32: number }
export type SentPart = { number: number; etag: string; crc32: number | null }
type Options = { signal?: AbortSignal | undefined }
/** `repeated`: it was sent before, and its answer is not known. */
type WriteOptions = Options & { repeated?: boolean }
type Target = { key: string; contentType: string }
type Multipart = { key: string; multipartId: string }
export type ListedPage = {
  objects: { key: string; bytes: number; modifiedMs: number }[]
  next: string | null
}

export type Bucket = {
  /** Whose it is. */
  readonly workspaceId: string
  capabilities: BucketLimits
  /** `etag` is null where the object was there already. */
  putObject(target: Target, body: Body, options?: WriteOptions): Promise<{ etag: string | null }>
  createMultipart(target: Target, options?: Options): Promise<string>
  uploadPart(part: Multipart & { number: number }, body: Body, options?: Options): Promise<{ etag: string }>
  completeMultipart(
    upload: Multipart,
    object: { parts: readonly SentPart[]; bytes: number; crc32: number },
    options?: WriteOptions,
  ): Promise<{ etag: string | null }>
  abortMultipart(upload: Multipart, options?: Options): Promise<void>
  headObject(key: string, options?: Options): Promise<{ bytes: number; etag: string | null } | undefined>
  /** Of the objects whose keys begin so; `next` is where to go on. */
  listPage(prefix: string, from: string | null, options?: Options): Promise<ListedPage>
  readRange(key: string, first: number, bytes: number, options?: Options): Promise<Buffer>
  copyPart(
    part: Multipart & { number: number },
    source: { key: string; range: { first: number; bytes: number } | null },
    options?: Options,
  ): Promise<{ etag: string; crc32: number | null }>
  deleteObject(key: string, options?: Options): Promise<void>
  /** The same bucket, for a multipart upload that some parts are copied into. */
  forCopies(): Omit<Bucket, 'forCopies' | 'workspaceId'>
}

export type BucketFaultKind = 'trouble' | 'refused' | 'no_such_upload' | 'exists' | 'impossible' | 'aborted'

/** What kind of fault of a bucket an error is; undefined if it is something else. */
export function bucketFault(error: unknown): BucketFaultKind | undefined {
  return error instanceof Error && error.name === 'BucketError'
    ? (error as Error & { kind: BucketFaultKind }).kind
    : undefined
}

/** What the customer reads about a fault; `code` is the same where the reason is. */
export type BucketRefusal = { code: string; reason: string }

/** Undefined where the bucket is not to blame. */
export function bucketRefusal(error: unknown): BucketRefusal | undefined {
  const kind = bucketFault(error)
  if (!kind || kind === 'aborted') return undefined
  const { code, message } = error as Error & { code: string }
  return { code, reason: message }
}
