import { AbortMultipartUploadCommand, ListPartsCommand } from '@aws-sdk/client-s3'
import { expectRefusal, PART_BYTES, type Prove, patternBytes } from './ground.ts'
import { OpenUpload } from './multipart-clauses.ts'

export const multipartRefusalClauses = {
  'refuses a part under 5 MiB that is not the last': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    const parts = [await upload.send(1, patternBytes(PART_BYTES - 1)), await upload.send(2, patternBytes(10))]
    await expectRefusal(upload.complete(parts), 400, 'EntityTooSmall')
  },
  'refuses parts out of order': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    const parts = [
      await upload.send(1, patternBytes(PART_BYTES)),
      await upload.send(2, patternBytes(PART_BYTES)),
    ]
    await expectRefusal(upload.complete(parts.reverse()), 400, 'InvalidPartOrder')
  },
  'refuses a part that was never sent': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    const part = await upload.send(1, patternBytes(10))
    await expectRefusal(upload.complete([{ ...part, PartNumber: 2 }]), 400, 'InvalidPart')
  },
  'refuses a part with a different ETag': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    const { ETag } = await upload.send(1, patternBytes(10))
    await upload.send(1, patternBytes(11))
    await expectRefusal(upload.complete([{ PartNumber: 1, ETag }]), 400, 'InvalidPart')
  },
  'refuses to complete with no parts': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    await expectRefusal(upload.complete([]), 400, 'MalformedXML')
  },
  'refuses part numbers outside 1 to 10000': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    for (const number of [0, 10_001]) {
      await expectRefusal(upload.send(number, patternBytes(10)), 400, 'InvalidArgument')
    }
  },
  'returns NoSuchUpload for an unknown upload': async (ground) => {
    const upload = new OpenUpload(ground.s3, { ...ground.target(), UploadId: 'unknown' })
    const part = { PartNumber: 1, ETag: '"d41d8cd98f00b204e9800998ecf8427e"' }
    await expectRefusal(upload.send(1, patternBytes(10)), 404, 'NoSuchUpload')
    await expectRefusal(upload.complete([part]), 404, 'NoSuchUpload')
    await expectRefusal(ground.s3.send(new AbortMultipartUploadCommand(upload.target)), 404, 'NoSuchUpload')
    await expectRefusal(ground.s3.send(new ListPartsCommand(upload.target)), 404, 'NoSuchUpload')
  },
  'returns NoSuchUpload for an upload under another key': async (ground) => {
    const { target } = await OpenUpload.begin(ground.s3, ground.target())
    const elsewhere = new OpenUpload(ground.s3, { ...target, Key: `${target.Key}-other` })
    await expectRefusal(elsewhere.send(1, patternBytes(10)), 404, 'NoSuchUpload')
  },
  'accepts no more parts once it is complete': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    await upload.complete([await upload.send(1, patternBytes(10))])
    await expectRefusal(upload.send(2, patternBytes(10)), 404, 'NoSuchUpload')
  },
} satisfies Record<string, Prove>
