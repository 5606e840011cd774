import type { Operation } from './request.ts'

/** The IAM action that each operation needs, after AWS's own table of required permissions. */
const REQUIRED = {
  PutObject: 's3:PutObject',
  CreateMultipartUpload: 's3:PutObject',
  UploadPart: 's3:PutObject',
  UploadPartCopy: 's3:PutObject',
  CompleteMultipartUpload: 's3:PutObject',
  AbortMultipartUpload: 's3:AbortMultipartUpload',
  GetObject: 's3:GetObject',
  GetObjectTagging: 's3:GetObjectTagging',
  HeadObject: 's3:GetObject',
  DeleteObject: 's3:DeleteObject',
  DeleteObjects: 's3:DeleteObject',
  ListParts: 's3:ListMultipartUploadParts',
  ListMultipartUploads: 's3:ListBucketMultipartUploads',
  ListObjectsV2: 's3:ListBucket',
  HeadBucket: 's3:ListBucket',
} as const satisfies Record<Operation, string>

/** Needed as well by what sets tags. */
export const TAGGING = 's3:PutObjectTagging'

export type Action = (typeof REQUIRED)[Operation] | typeof TAGGING

/** One pair of credentials and the actions that it is granted, on every bucket of the server. */
export interface BucketKey {
  accessKeyId: string
  secretAccessKey: string
  actions: readonly Action[]
}

export const requiredAction = (operation: Operation): Action => REQUIRED[operation]

/** All there is: what the reader of a bucket and its owner's tools need. */
export const ALL_ACTIONS: readonly Action[] = [...new Set(Object.values(REQUIRED)), TAGGING]
