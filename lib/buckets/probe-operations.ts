import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { ProbePlace } from './probe-place.ts'

const OBJECT = '.sluice-check'

/** Each operation on the one object of a check. */
export class ProbeOperations {
  readonly #client: S3Client
  readonly #place: ProbePlace
  readonly #signal: AbortSignal
  readonly #object: { Bucket: string; Key: string }

  constructor(client: S3Client, place: ProbePlace, signal: AbortSignal) {
    this.#client = client
    this.#place = place
    this.#signal = signal
    this.#object = { Bucket: place.bucket, Key: `${place.prefix}${OBJECT}` }
  }

  get #options() {
    return { abortSignal: this.#signal }
  }

  /** As every object of a customer is stored, so that a class or key that is refused shows here. */
  get #stored() {
    const { storageClass, encryption } = this.#place
    return {
      ...this.#object,
      ...(storageClass && { StorageClass: storageClass as never }),
      ...(encryption?.type === 'SSE-S3' && { ServerSideEncryption: 'AES256' as const }),
      ...(encryption?.type === 'SSE-KMS' && {
        ServerSideEncryption: 'aws:kms' as const,
        SSEKMSKeyId: encryption.keyId,
      }),
    }
  }

  async put(): Promise<void> {
    await this.#client.send(
      new PutObjectCommand({ ...this.#stored, Body: '', ContentLength: 0 }),
      this.#options,
    )
  }

  async create(): Promise<string> {
    const { UploadId } = await this.#client.send(
      new CreateMultipartUploadCommand(this.#stored),
      this.#options,
    )
    return UploadId!
  }

  async part(UploadId: string): Promise<string> {
    const part = { ...this.#object, UploadId, PartNumber: 1, Body: Buffer.from('x') }
    const { ETag } = await this.#client.send(new UploadPartCommand(part), this.#options)
    return ETag!
  }

  async complete(UploadId: string, ETag: string): Promise<void> {
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] }
    const command = new CompleteMultipartUploadCommand({ ...this.#object, UploadId, MultipartUpload })
    await this.#client.send(command, this.#options)
  }

  async abort(UploadId: string): Promise<void> {
    await this.#client.send(new AbortMultipartUploadCommand({ ...this.#object, UploadId }), this.#options)
  }

  async get(): Promise<void> {
    const { Body } = await this.#client.send(new GetObjectCommand(this.#object), this.#options)
    await Body?.transformToByteArray()
  }

  async delete(): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#object), this.#options)
  }
}
