import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { combineCrc32, crc32ToBase64 } from '#lib/platform/kernel/crc32.ts'
import { expectRefusal, namedPart, PART_BYTES, type Prove, patternBytes } from './ground.ts'
import { OpenUpload } from './multipart-clauses.ts'

const FALSE_CRC32 = crc32ToBase64(crc32('something else'))
const FALSE_MD5 = createHash('md5').update('something else').digest('base64')
const CRC32_OF_EACH = { ChecksumAlgorithm: 'CRC32', ChecksumType: 'COMPOSITE' } as const
const CRC32_OF_ALL = { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } as const

const refusesPutWith =
  (more: Partial<PutObjectCommandInput>, code: string): Prove =>
  async ({ s3, target }) => {
    const address = target()
    await expectRefusal(s3.send(new PutObjectCommand({ ...address, Body: 'hello', ...more })), 400, code)
    await expectRefusal(s3.send(new GetObjectCommand(address)), 404, 'NoSuchKey')
  }

export const integrityClauses = {
  'stores the CRC32 of an object and returns it': async ({ s3, target }) => {
    const address = target()
    const ChecksumCRC32 = crc32ToBase64(crc32('hello'))
    const put = await s3.send(new PutObjectCommand({ ...address, Body: 'hello', ChecksumCRC32 }))
    expect(put.ChecksumCRC32).toBe(ChecksumCRC32)
    const head = await s3.send(new HeadObjectCommand({ ...address, ChecksumMode: 'ENABLED' }))
    expect(head).toMatchObject({ ChecksumCRC32, ChecksumType: 'FULL_OBJECT' })
  },
  'stores no object whose CRC32 is different': refusesPutWith({ ChecksumCRC32: FALSE_CRC32 }, 'BadDigest'),
  'stores no object whose Content-MD5 is different': refusesPutWith({ ContentMD5: FALSE_MD5 }, 'BadDigest'),
  'refuses an invalid Content-MD5': refusesPutWith({ ContentMD5: 'none' }, 'InvalidDigest'),
  'refuses an invalid CRC32': refusesPutWith({ ChecksumCRC32: 'none' }, 'InvalidRequest'),
  'refuses a part with a different CRC32 or Content-MD5': async ({ s3, target }) => {
    const upload = await OpenUpload.begin(s3, target())
    for (const false_ of [{ ChecksumCRC32: FALSE_CRC32 }, { ContentMD5: FALSE_MD5 }]) {
      const command = new UploadPartCommand({ ...upload.target, PartNumber: 1, Body: 'hello', ...false_ })
      await expectRefusal(s3.send(command), 400, 'BadDigest')
    }
    const part = { PartNumber: 1, ETag: createHash('md5').update('hello').digest('hex') }
    await expectRefusal(upload.complete([part]), 400, 'InvalidPart')
  },
  'compares the CRC32 of each part on completion': async ({ s3, target }) => {
    const upload = await OpenUpload.begin(s3, target(), CRC32_OF_EACH)
    const part = await upload.send(1, patternBytes(10))
    await expectRefusal(upload.complete([{ ...part, ChecksumCRC32: FALSE_CRC32 }]), 400, 'InvalidPart')
    await expectRefusal(upload.complete([{ ...part, ChecksumCRC32: undefined }]), 400, 'InvalidRequest')
    const { ChecksumCRC32 } = await upload.complete([part])
    const bytes = Buffer.from(part.ChecksumCRC32!, 'base64')
    expect(ChecksumCRC32).toBe(`${crc32ToBase64(crc32(bytes))}-1`)
  },
  'compares the CRC32 of the entire object on completion': async ({ s3, target }) => {
    const upload = await OpenUpload.begin(s3, target(), CRC32_OF_ALL)
    const bytes = [patternBytes(PART_BYTES, 1), patternBytes(1000, 2)]
    const parts = [await upload.send(1, bytes[0]!), await upload.send(2, bytes[1]!)]
    const whole = combineCrc32(crc32(bytes[0]!), crc32(bytes[1]!), 1000)
    const complete = (ChecksumCRC32: string) =>
      upload.complete(parts, { ChecksumCRC32, ChecksumType: 'FULL_OBJECT' })
    await expectRefusal(complete(FALSE_CRC32), 400, 'BadDigest')
    expect(await complete(crc32ToBase64(whole))).toMatchObject({ ChecksumCRC32: crc32ToBase64(whole) })
    const { Bucket, Key } = upload.target
    const got = await s3.send(new GetObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }))
    expect(got.ChecksumCRC32).toBe(crc32ToBase64(whole))
    await got.Body!.transformToByteArray()
  },
  'requires the CRC32 of each part if one was announced': async ({ client, target }) => {
    const s3 = client({ requestChecksumCalculation: 'WHEN_REQUIRED' })
    const upload = await OpenUpload.begin(s3, target(), CRC32_OF_EACH)
    await expectRefusal(upload.send(1, patternBytes(10)), 400, 'InvalidRequest')
  },
  'accepts parts without a checksum if none was announced': async ({ client, target }) => {
    const s3 = client({ requestChecksumCalculation: 'WHEN_REQUIRED' })
    const upload = await OpenUpload.begin(s3, target())
    const sent = await s3.send(new UploadPartCommand({ ...upload.target, PartNumber: 1, Body: 'hello' }))
    await upload.complete([namedPart(1, { ETag: sent.ETag })])
  },
  'compares the size of the entire object on completion': async ({ s3, target }) => {
    const upload = await OpenUpload.begin(s3, target())
    const parts = [await upload.send(1, patternBytes(10))]
    await expectRefusal(upload.complete(parts, { MpuObjectSize: 11 }), 400, 'InvalidRequest')
    await upload.complete(parts, { MpuObjectSize: 10 })
  },
} satisfies Record<string, Prove>
