import type { Reply } from './exchange.ts'
import { DECLARED, furthest, SimulatedClient } from './simulated-client.ts'

export const named = (name: string) => ({
  'content-disposition': `attachment; filename="${name}"`,
  'content-type': DECLARED.type,
})

/** Sends the entire file in one request, and again if there is no response. */
export class PlainClient extends SimulatedClient {
  protected readonly protocol = 'http'

  protected async attempt(): Promise<void> {
    const reply = await this.send(
      { method: 'POST', headers: { ...named(this.name), ...this.declaration } },
      this.source,
    )
    if (reply !== 'nothing' && reply.status < 300) this.end = 'done'
  }
}

/** Resumable Uploads for HTTP: the upload is complete when its client says so. */
export class ResumableClient extends SimulatedClient {
  protected readonly protocol = 'resumable-http'

  protected async attempt(): Promise<void> {
    if (this.fileId === undefined) await this.#create()
    else await this.#resume()
  }

  async #create(): Promise<void> {
    const body = this.plan.withCreation ? this.bodyFrom(0) : Buffer.alloc(0)
    const reply = await this.#request('POST', body, { ...named(this.name), ...this.declaration })
    if (reply !== 'nothing' && reply.status < 300) this.#told(reply)
  }

  async #resume(): Promise<void> {
    const head = await this.#ask('HEAD')
    if (head === 'nothing') return
    if (head.status === 404 || head.status === 410) this.end = 'gone'
    if (head.status !== 204) return
    this.#told(head)
    while (!this.end && (await this.#goOn()));
  }

  /** Returns false if the client has to request the offset. */
  async #goOn(): Promise<boolean> {
    const from = this.confirmedBytes
    const appended = { 'upload-offset': String(from), 'content-type': 'application/partial-upload' }
    const sending = this.sendBody(from, (body) => this.#request('PATCH', body, appended))
    // Sometimes cancels while the body is still in flight.
    const isCanceling = await this.cancels(() => this.#ask('DELETE'))
    const accepted = (await sending).filter(({ status }) => status < 300)
    if (isCanceling || accepted.length === 0) return false
    this.#told(furthest(accepted))
    return true
  }

  /** Adopts the state that a response reports. */
  #told(reply: Exclude<Reply, 'nothing'>): void {
    this.fileId ??= this.addressOf(reply)
    this.confirm(reply)
    if (reply.headers['Upload-Complete'] === '?1') this.end = 'done'
  }

  #request(method: 'POST' | 'PATCH', body: Buffer, headers: Record<string, string>): Promise<Reply> {
    const isLast = this.confirmedBytes + body.length === this.source.length
    const isComplete = isLast && this.endsWith(body, 80)
    const digest = this.digestOf(body, 'sha256')
    const about = {
      'upload-complete': isComplete ? '?1' : '?0',
      ...(!this.plan.deferred && { 'upload-length': String(this.source.length) }),
      ...(digest && { 'content-digest': `sha-256=:${digest}:` }),
    }
    const all = { ...this.#version, ...about, ...headers }
    return this.send({ method, headers: all }, body, (interim) => this.#toldEarly(interim))
  }

  /** Handles an interim response, which arrives while the body is still being sent. */
  #toldEarly(headers: Record<string, string>): void {
    this.fileId ??= this.addressOf({ headers })
    if (this.fileId !== undefined && Number(headers['Upload-Offset'] ?? 0) > this.confirmedBytes)
      this.confirm({ headers })
  }

  #ask(method: 'HEAD' | 'DELETE'): Promise<Reply> {
    return this.send({ method, headers: this.#version })
  }

  get #version(): Record<string, string> {
    const { interop } = this.plan
    return interop === undefined ? {} : { 'upload-draft-interop-version': interop }
  }
}
