import { S3Error } from './s3-error.ts'

const MAX_LINE_BYTES = 4096
const LINE_END = Buffer.from('\r\n')

/** Takes lines and counted bytes in turn from a stream of buffers, and holds no more than one of them. */
export class ByteReader {
  readonly #source: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  async line(): Promise<string> {
    const line = await this.lineOrEnd()
    if (line === undefined) throw new S3Error('IncompleteBody')
    return line
  }

  /** Undefined if the stream has ended. */
  async lineOrEnd(): Promise<string | undefined> {
    for (;;) {
      const end = this.#rest.indexOf(LINE_END)
      if (end >= 0) {
        const line = this.#rest.toString('latin1', 0, end)
        this.#rest = this.#rest.subarray(end + LINE_END.length)
        return line
      }
      if (this.#rest.length > MAX_LINE_BYTES)
        throw new S3Error('IncompleteBody', 'A line of the body is too long.')
      const { value, done } = await this.#source.next()
      if (done && this.#rest.length > 0) throw new S3Error('IncompleteBody')
      if (done) return undefined
      this.#rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, value]) : value
    }
  }

  async *bytes(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#source.next()
        if (done) throw new S3Error('IncompleteBody')
        this.#rest = value
      }
      const taken = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(taken.length)
      left -= taken.length
      if (taken.length > 0) yield taken
    }
  }
}
