import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

const BATCH_BYTES = 2 ** 20

/** A complete file that is not visible yet. Its bytes are on the disk; a rename publishes it. */
export interface StagedFile {
  path: string
  size: number
  mtimeNs: string
}

export type StagingOptions = { keepBytes: boolean; durable: boolean }

/** Writes files before they get their names. Leftovers from a crash are removed at the next start. */
export class Staging {
  /** Whether writes wait for the disk. */
  readonly durable: boolean
  readonly #directory: string
  readonly #keepBytes: boolean

  private constructor(directory: string, { keepBytes, durable }: StagingOptions) {
    this.durable = durable
    this.#directory = directory
    this.#keepBytes = keepBytes
  }

  static async open(directory: string, options: StagingOptions): Promise<Staging> {
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory, { recursive: true })
    return new Staging(directory, options)
  }

  newPath(): string {
    return join(this.#directory, randomUUID())
  }

  /** Reads the bytes no faster than the disk accepts them. */
  async write(bytes: AsyncIterable<Buffer>): Promise<StagedFile> {
    return this.#whole((file) => (this.#keepBytes ? writeBatches(file, bytes) : countBytes(bytes)))
  }

  /** Concatenates several files into one, using a single buffer regardless of their size. */
  async concatenate(sources: { path: string; size: number }[]): Promise<StagedFile> {
    const buffer = Buffer.allocUnsafe(4 * BATCH_BYTES)
    return this.#whole(async (file) => {
      for (const source of sources) if (this.#keepBytes) await append(file, source.path, buffer)
      return sources.reduce((total, { size }) => total + size, 0)
    })
  }

  async discard(staged: StagedFile): Promise<void> {
    await rm(staged.path, { force: true })
  }

  async #whole(fill: (file: FileHandle) => Promise<number>): Promise<StagedFile> {
    const path = this.newPath()
    const file = await open(path, 'wx')
    try {
      const size = await fill(file)
      if (!this.#keepBytes) await file.truncate(size)
      else if (this.durable) await file.datasync()
      const { mtimeNs } = await file.stat({ bigint: true })
      return { path, size, mtimeNs: String(mtimeNs) }
    } catch (error) {
      await rm(path, { force: true })
      throw error
    } finally {
      await file.close()
    }
  }
}

async function writeBatches(file: FileHandle, bytes: AsyncIterable<Buffer>): Promise<number> {
  let size = 0
  let batch: Buffer[] = []
  let batchBytes = 0
  for await (const chunk of bytes) {
    batch.push(chunk)
    batchBytes += chunk.length
    if (batchBytes < BATCH_BYTES) continue
    await writeFully(file, batch, batchBytes)
    size += batchBytes
    batch = []
    batchBytes = 0
  }
  if (batchBytes > 0) await writeFully(file, batch, batchBytes)
  return size + batchBytes
}

async function countBytes(bytes: AsyncIterable<Buffer>): Promise<number> {
  let size = 0
  for await (const chunk of bytes) size += chunk.length
  return size
}

async function append(file: FileHandle, path: string, buffer: Buffer): Promise<void> {
  const source = await open(path, 'r')
  try {
    for (;;) {
      const { bytesRead } = await source.read(buffer, 0, buffer.length)
      if (bytesRead === 0) return
      await writeFully(file, [buffer.subarray(0, bytesRead)], bytesRead)
    }
  } finally {
    await source.close()
  }
}

async function writeFully(file: FileHandle, batch: Buffer[], batchBytes: number): Promise<void> {
  const { bytesWritten } = await file.writev(batch)
  if (bytesWritten < batchBytes) {
    const rest = Buffer.concat(batch).subarray(bytesWritten)
    await writeFully(file, [rest], rest.length)
  }
}
