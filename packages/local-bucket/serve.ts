import { randomUUID } from 'node:crypto'
import type { Clock } from '../../lib/platform/kernel/clock.ts'
import { type Answer, refusalAnswer } from './answer.ts'
import { authenticate } from './authenticate.ts'
import type { Interceptor, Perform } from './call.ts'
import { ConnectionCut, type Exchange } from './exchange.ts'
import { IncomingBody } from './incoming-body.ts'
import { type KeyRing, requiredAction, TAGGING } from './key-ring.ts'
import { listMultipartUploads, listObjectsV2, listParts } from './operations/listings.ts'
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  uploadPart,
  uploadPartCopy,
} from './operations/multipart.ts'
import {
  deleteObject,
  deleteObjects,
  getObject,
  getObjectTagging,
  headBucket,
  headObject,
  putObject,
} from './operations/objects.ts'
import { type Operation, readRequest, type S3Request } from './request.ts'
import { Refusal, S3Error } from './s3-error.ts'
import type { BucketStorage } from './storage.ts'

export interface ServedBuckets {
  region: string
  ring: KeyRing
  buckets: ReadonlyMap<string, BucketStorage>
  keepBytes: boolean
  clock: Clock
  interceptor: Interceptor | undefined
}

/** Serves one request. Errors become responses or close the connection; nothing is thrown. */
export async function serve(served: ServedBuckets, exchange: Exchange): Promise<void> {
  const { interceptor } = served
  const { method = '', url = '', headers } = exchange.request
  let request: S3Request | undefined
  let answer: Answer | undefined
  let trouble: unknown
  const process = async () => {
    const read = readRequest(method, url, headers)
    request = read
    const next = (body: AsyncIterable<Buffer>) => perform(served, read, body)
    return interceptor ? interceptor.around(read, exchange, next) : next(exchange.body())
  }
  try {
    answer = await process().catch((error) => {
      if (error instanceof ConnectionCut || exchange.isGone) throw new ConnectionCut()
      if (!(error instanceof Refusal)) trouble = error
      return refusalAnswer(error instanceof Refusal ? error : new S3Error('InternalError'), url)
    })
    await exchange.answer({ ...answer, headers: { ...answer.headers, 'x-amz-request-id': randomUUID() } })
  } catch (error) {
    answer = undefined
    exchange.cut()
    if (!(error instanceof ConnectionCut)) trouble = error
  }
  if (request) interceptor?.ended(request, answer, trouble)
}

async function perform(
  served: ServedBuckets,
  request: S3Request,
  source: AsyncIterable<Buffer>,
): Promise<Answer> {
  const { region, ring, buckets, clock, keepBytes, interceptor } = served
  const authentication = await authenticate(request, ring, region, clock.now())
  const storageOf = (bucket: string): BucketStorage => {
    const storage = buckets.get(bucket)
    if (!storage) throw new S3Error('NoSuchBucket', undefined, { BucketName: bucket })
    return storage
  }
  const storage = storageOf(request.bucket)
  const permits = (action: string) => authentication.key.actions.some((granted) => granted === action)
  if (!permits(requiredAction(request.operation))) throw new S3Error('AccessDenied')
  if (request.headers['x-amz-tagging'] && !permits(TAGGING)) throw new S3Error('AccessDenied')
  const { operation } = request
  const headers = { ...request.headers }
  const checksummed = operation !== 'CompleteMultipartUpload'
  const body = new IncomingBody({ headers, authentication, source, checksummed, md5: keepBytes })
  const call = { request: { ...request, headers }, body, storage, storageOf, clock, permits, interceptor }
  return (await interceptor?.admit(call)) ?? OPERATIONS[operation](call)
}

export const OPERATIONS: Record<Operation, Perform> = {
  AbortMultipartUpload: abortMultipartUpload,
  CompleteMultipartUpload: completeMultipartUpload,
  CreateMultipartUpload: createMultipartUpload,
  DeleteObject: deleteObject,
  DeleteObjects: deleteObjects,
  GetObject: getObject,
  GetObjectTagging: getObjectTagging,
  HeadBucket: headBucket,
  HeadObject: headObject,
  ListMultipartUploads: listMultipartUploads,
  ListObjectsV2: listObjectsV2,
  ListParts: listParts,
  PutObject: putObject,
  UploadPart: uploadPart,
  UploadPartCopy: uploadPartCopy,
}
