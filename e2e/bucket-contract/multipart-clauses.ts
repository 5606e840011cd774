import { createHash } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { expectRefusal, type Ground, namedPart, PART_BYTES, type Prove, patternBytes } from './ground.ts'

/** A multipart upload in progress, as the SDK sees it. */
export class OpenUpload {
  readonly target: { Bucket: string; Key: string; UploadId: string }
  readonly #s3: S3Client

  constructor(s3: S3Client, target: OpenUpload['target']) {
    this.#s3 = s3
    this.target = target
  }

  static async begin(
    s3: S3Client,
    target: { Bucket: string; Key: string },
    more: Partial<CreateMultipartUploadCommandInput> = {},
  ): Promise<OpenUpload> {
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ ...target, ...more }))
    return new OpenUpload(s3, { ...target, UploadId: UploadId! })
  }

  async send(PartNumber: number, Body: Buffer): Promise<CompletedPart> {
    const sent = await this.#s3.send(new UploadPartCommand({ ...this.target, PartNumber, Body }))
    return namedPart(PartNumber, sent)
  }

  async complete(Parts: CompletedPart[], more: object = {}) {
    return this.#s3.send(
      new CompleteMultipartUploadCommand({ ...this.target, MultipartUpload: { Parts }, ...more }),
    )
  }
}

async function bytesAt({ s3 }: Ground, target: { Bucket: string; Key: string }): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: target.Bucket, Key: target.Key }))
  return Buffer.from(await Body!.transformToByteArray())
}

export const multipartClauses = {
  'assembles parts by number, whatever their order of arrival': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    const bytes = [patternBytes(PART_BYTES, 1), patternBytes(PART_BYTES + 7, 2), patternBytes(1000, 3)]
    const parts: CompletedPart[] = []
    for (const n of [2, 0, 1]) parts[n] = await upload.send(n + 1, bytes[n]!)
    const digests = bytes.map((part) => createHash('md5').update(part).digest())
    const { ETag } = await upload.complete(parts)
    expect(ETag).toBe(`"${createHash('md5').update(Buffer.concat(digests)).digest('hex')}-3"`)
    expect((await bytesAt(ground, upload.target)).equals(Buffer.concat(bytes))).toBe(true)
  },
  'accepts part numbers with gaps, and omits parts that are not named': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    const [first, last] = [patternBytes(PART_BYTES, 1), patternBytes(10, 2)]
    const named = [await upload.send(7, first), await upload.send(10_000, last)]
    await upload.send(8, patternBytes(PART_BYTES, 9))
    await upload.complete(named)
    expect((await bytesAt(ground, upload.target)).equals(Buffer.concat([first, last]))).toBe(true)
  },
  'uses the last version of a part': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    await upload.send(1, patternBytes(2000, 1))
    await upload.complete([await upload.send(1, patternBytes(1000, 2))])
    expect((await bytesAt(ground, upload.target)).equals(patternBytes(1000, 2))).toBe(true)
  },
  'keeps the type and metadata that the upload started with': async (ground) => {
    const described = { ContentType: 'video/mp4', Metadata: { origin: 'camera' } }
    const upload = await OpenUpload.begin(ground.s3, ground.target(), described)
    await upload.complete([await upload.send(1, patternBytes(10))])
    const { Bucket, Key } = upload.target
    expect(await ground.s3.send(new HeadObjectCommand({ Bucket, Key }))).toMatchObject(described)
  },
  'does not show an object before it is complete': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    await upload.send(1, patternBytes(10))
    const { Bucket, Key } = upload.target
    await expectRefusal(ground.s3.send(new GetObjectCommand({ Bucket, Key })), 404, 'NoSuchKey')
  },
  'completes again, with the same ETag, for a client that lost the response': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    const parts = [await upload.send(1, patternBytes(PART_BYTES)), await upload.send(2, patternBytes(10))]
    const first = await upload.complete(parts)
    const again = await upload.complete(parts)
    expect(again.ETag).toBe(first.ETag)
    expect(again.ETag).toMatch(/-2"$/)
  },
  'never overwrites on completion with If-None-Match: *': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    const parts = [await upload.send(1, patternBytes(10))]
    const { Bucket, Key } = upload.target
    await ground.s3.send(new PutObjectCommand({ Bucket, Key, Body: 'first' }))
    await expectRefusal(upload.complete(parts, { IfNoneMatch: '*' }), 412, 'PreconditionFailed')
    expect(String(await bytesAt(ground, { Bucket, Key }))).toBe('first')
  },
  'forgets an aborted upload': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    await upload.send(1, patternBytes(10))
    await ground.s3.send(new AbortMultipartUploadCommand(upload.target))
    await expectRefusal(upload.send(2, patternBytes(10)), 404, 'NoSuchUpload')
  },
  'lists the parts, page by page': async (ground) => {
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    for (const n of [4, 1, 9]) await upload.send(n, patternBytes(n))
    const first = await ground.s3.send(new ListPartsCommand({ ...upload.target, MaxParts: 2 }))
    expect(first).toMatchObject({
      IsTruncated: true,
      Parts: [
        { PartNumber: 1, Size: 1 },
        { PartNumber: 4, Size: 4 },
      ],
    })
    const rest = await ground.s3.send(
      new ListPartsCommand({ ...upload.target, PartNumberMarker: first.NextPartNumberMarker }),
    )
    expect(rest).toMatchObject({ IsTruncated: false, Parts: [{ PartNumber: 9, Size: 9 }] })
  },
  'lists the uploads in progress': async (ground) => {
    const { Bucket, Key } = ground.target('film')
    const ids: string[] = []
    for (const name of ['b', 'a', 'c']) {
      const { target } = await OpenUpload.begin(ground.s3, { Bucket, Key: `${Key}/${name}` })
      ids.push(target.UploadId)
    }
    const first = await ground.s3.send(
      new ListMultipartUploadsCommand({ Bucket, Prefix: Key, MaxUploads: 2 }),
    )
    expect(first.Uploads?.map(({ Key, UploadId }) => [Key?.at(-1), UploadId])).toEqual([
      ['a', ids[1]],
      ['b', ids[0]],
    ])
    const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = first
    const rest = await ground.s3.send(
      new ListMultipartUploadsCommand({ Bucket, Prefix: Key, KeyMarker, UploadIdMarker }),
    )
    expect(rest.Uploads?.map(({ UploadId }) => UploadId)).toEqual([ids[2]])
  },
  'copies an object, or a range of one, into a part': async (ground) => {
    const source = ground.target('source ü')
    const bytes = patternBytes(PART_BYTES + 100)
    await ground.s3.send(new PutObjectCommand({ ...source, Body: bytes }))
    const upload = await OpenUpload.begin(ground.s3, ground.target())
    const copy = async (PartNumber: number, CopySourceRange?: string) => {
      const CopySource = `${source.Bucket}/${encodeURIComponent(source.Key)}`
      const copied = await ground.s3.send(
        new UploadPartCopyCommand({ ...upload.target, PartNumber, CopySource, CopySourceRange }),
      )
      return namedPart(PartNumber, copied.CopyPartResult!)
    }
    await upload.complete([
      await copy(1),
      await copy(2, `bytes=10-${PART_BYTES + 9}`),
      await upload.send(3, bytes),
    ])
    const expected = Buffer.concat([bytes, bytes.subarray(10, PART_BYTES + 10), bytes])
    expect((await bytesAt(ground, upload.target)).equals(expected)).toBe(true)
  },
} satisfies Record<string, Prove>

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
