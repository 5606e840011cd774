import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Answer } from './answer.ts'

const MAX_DISCARDED_BYTES = 64 * 2 ** 20

/** The connection was closed or interrupted by a fault, so no response can be sent. */
export class ConnectionCut extends Error {
  override readonly name = 'ConnectionCut'
}

/** One HTTP exchange: reads the request's body, sends the response, and detects the end of the connection. */
export class Exchange {
  readonly request: IncomingMessage
  readonly #response: ServerResponse
  readonly #awaitsContinue: boolean
  readonly #gone = Promise.withResolvers<never>()
  #bodyWanted = false

  constructor(request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) {
    this.request = request
    this.#response = response
    this.#awaitsContinue = awaitsContinue
    this.#gone.promise.catch(() => {})
    response.once('close', () => this.#gone.reject(new ConnectionCut()))
  }

  /**
   * Tells a client that sent `Expect: 100-continue` to send its body. A client that is refused before this sends none.
   */
  body(): AsyncIterable<Buffer> {
    return {
      [Symbol.asyncIterator]: () => {
        this.#bodyWanted = true
        if (this.#awaitsContinue) this.#response.writeContinue()
        // If reading stops early, the connection stays open, so that the error can still be sent.
        return this.request.iterator({ destroyOnReturn: false })
      },
    }
  }

  get isGone(): boolean {
    return this.#response.destroyed || this.request.errored !== null
  }

  /** Waits for this promise, but throws as soon as the connection is closed. */
  async whileConnected<T>(waiting: Promise<T>): Promise<T> {
    return Promise.race([waiting, this.#gone.promise])
  }

  cut(): void {
    this.request.socket.destroy()
  }

  async answer({ status, headers, body }: Answer): Promise<void> {
    if (this.isGone) {
      if (body instanceof Readable) body.destroy()
      throw new ConnectionCut()
    }
    for (const [name, value] of Object.entries(headers)) this.#response.setHeader(name, value)
    const bodyMayCome = !this.#bodyWanted && this.#awaitsContinue
    if (bodyMayCome) this.#response.setHeader('connection', 'close')
    this.#response.statusCode = status
    if (this.request.method === 'HEAD') this.#response.end()
    else if (body instanceof Readable) await pipeline(body, this.#response)
    else this.#response.setHeader('content-length', Buffer.byteLength(body ?? '')).end(body)
    if (!this.request.complete && !bodyMayCome) this.#discardRest()
  }

  /**
   * Discards the rest of the body, so that the connection can be reused. Closes the connection if too much is left.
   */
  #discardRest(): void {
    let bytes = 0
    this.request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MAX_DISCARDED_BYTES) this.request.socket.destroy()
    })
    this.request.on('error', () => {})
    this.request.resume()
  }
}
