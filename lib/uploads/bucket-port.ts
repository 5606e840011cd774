import type { FileObject, ObjectStorage } from '../workspace/pipes/object-settings.ts'

/** The limits of the bucket's provider. */
type BucketLimits = {
  maxParts: number
  equalParts: boolean
  copyParts: boolean
  dropsUnfinishedAfterHours: number | null
  /** The object setting that the provider would refuse, and why. Undefined if it supports all of them. */
  objectionTo(object: FileObject): { setting: string; message: string } | undefined
}
export type Body = { chunks: readonly Uint8Array[]; bytes: number; crc32: number }
/** `etag`: what the bucket returned for the part, and what names it when the parts become an object. */
export type SentPart = { number: number; etag: string; crc32: number | null }
type Options = { signal?: AbortSignal | undefined }
/** `repeated`: the same request was sent before, and its outcome is unknown. */
type WriteOptions = Options & { repeated?: boolean }
/** `object`: the object's own settings, without its content type and the settings of the Data Store. */
export type Target = { key: string; contentType: string; object: FileObject | null }
/** The result of a PutObject. `isFound`: the object already existed, and was looked up. */
export type PutResult = { etag: string | null; isFound?: boolean }
/** `multipartId`: sets the parts of one attempt to store this object apart from those of other attempts. */
type Multipart = { key: string; multipartId: string }
export type ListedPage = {
  objects: { key: string; bytes: number; modifiedMs: number }[]
  next: string | null
}

/**
 * The bucket operations that uploads, repairs, concatenation and recovery need. The chunks of a body must not change until the response has arrived. A
 * failing call throws an error with a `kind`: see `bucketFault`.
 */
export type Bucket = {
  /** The workspace that owns the bucket. */
  readonly workspaceId: string
  capabilities: BucketLimits
  /**
   * The storage class and encryption that the Data Store adds to objects with these settings. Null if there are none.
   */
  storageOf(object: FileObject | null): ObjectStorage | null
  /** `etag` is null if the object already existed and could not be looked up. */
  putObject(target: Target, body: Body, options?: WriteOptions): Promise<PutResult>
  createMultipart(target: Target, options?: Options): Promise<string>
  uploadPart(part: Multipart & { number: number }, body: Body, options?: Options): Promise<{ etag: string }>
  /** `storage`: see `storageOf`, if the bucket stores the settings with this request instead of the first one. */
  completeMultipart(
    upload: Target & { multipartId: string },
    object: { parts: readonly SentPart[]; bytes: number; crc32: number },
    options?: WriteOptions,
  ): Promise<{ etag: string | null; storage?: ObjectStorage | null }>
  abortMultipart(upload: Multipart, options?: Options): Promise<void>
  headObject(key: string, options?: Options): Promise<{ bytes: number; etag: string | null } | undefined>
  /** Lists objects whose keys start with `prefix`; `next` is the start of the following page. */
  listPage(prefix: string, from: string | null, options?: Options): Promise<ListedPage>
  readRange(key: string, first: number, bytes: number, options?: Options): Promise<Buffer>
  copyPart(
    part: Multipart & { number: number },
    source: { key: string; range: { first: number; bytes: number } | null },
    options?: Options,
  ): Promise<{ etag: string; crc32: number | null }>
  deleteObject(key: string, options?: Options): Promise<void>
  /** The same bucket, for a multipart upload that includes copied parts. */
  forCopies(): Omit<Bucket, 'forCopies' | 'workspaceId'>
}

export type BucketFaultKind =
  | 'trouble'
  | 'refused'
  | 'no_such_upload'
  | 'exists'
  | 'damaged'
  | 'impossible'
  | 'aborted'

/** The kind of fault if the error came from a bucket; undefined for any other error. */
export function bucketFault(error: unknown): BucketFaultKind | undefined {
  return error instanceof Error && error.name === 'BucketError'
    ? (error as Error & { kind: BucketFaultKind }).kind
    : undefined
}

/** How many times the request was sent. Only the outcome of the last attempt is known. */
export function attemptsOf(error: unknown): number {
  return (error as { attempts?: number }).attempts ?? 1
}

/**
 * The customer-facing description of a fault. The same reason always has the same `code`. The Data Store is omitted if
 * the file has only one.
 */
export type BucketRefusal = { code: string; reason: string; dataStoreId?: string | undefined }

/** Undefined if the error did not come from the bucket, or if the call was aborted. */
export function bucketRefusal(error: unknown, dataStoreId?: string): BucketRefusal | undefined {
  const kind = bucketFault(error)
  if (!kind || kind === 'aborted') return undefined
  const { code, message } = error as Error & { code: string }
  return { code, reason: message, dataStoreId }
}
