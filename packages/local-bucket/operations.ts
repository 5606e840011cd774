import type { Perform } from './call.ts'
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
import type { Operation } from './request.ts'

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
