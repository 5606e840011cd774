import type { Perform } from './call.ts'
import { abortMultipartUpload } from './operations/abort-multipart-upload.ts'
import { completeMultipartUpload } from './operations/complete-multipart-upload.ts'
import { createMultipartUpload } from './operations/create-multipart-upload.ts'
import { deleteObject } from './operations/delete-object.ts'
import { deleteObjects } from './operations/delete-objects.ts'
import { getObject } from './operations/get-object.ts'
import { getObjectTagging } from './operations/get-object-tagging.ts'
import { headBucket } from './operations/head-bucket.ts'
import { headObject } from './operations/head-object.ts'
import { listMultipartUploads } from './operations/list-multipart-uploads.ts'
import { listObjectsV2 } from './operations/list-objects-v2.ts'
import { listParts } from './operations/list-parts.ts'
import { putObject } from './operations/put-object.ts'
import { uploadPart } from './operations/upload-part.ts'
import { uploadPartCopy } from './operations/upload-part-copy.ts'
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
