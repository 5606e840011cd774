import { laneName } from './core.ts'
import type { Reply } from './exchange.ts'
import { DECLARED, furthest, SimulatedClient } from './simulated-client.ts'

/** TUS 1.0.0. */
export class TusClient extends SimulatedClient {
  protected readonly protocol = 'tus'
  #isDeclared = false

  protected async attempt(): Promise<void> {
    if (this.fileId === undefined) await this.create()
    else await this.resume()
  }

  /** The other headers of the request that creates the upload. */
  protected get creation(): Record<string, string> {
    return {}
  }

  /** Returns the body of the response. */
  protected async create(): Promise<string | undefined> {
    const { deferred, withCreation } = this.plan
    const { length } = this.source
    const body = withCreation ? this.bodyFrom(0) : undefined
    this.#isDeclared = !deferred
    const declared: Record<string, string> = deferred
      ? { 'upload-defer-length': '1' }
      : { 'upload-length': String(length) }
    const reply = await this.request('POST', body, {
      ...declared,
      ...this.metadata,
      ...this.declaration,
      ...this.creation,
      ...(this.world.habits.keyed && { 'idempotency-key': this.name }),
    })
    this.leaveIfForgotten(reply)
    if (reply === 'nothing' || reply.status !== 201) return undefined
    this.fileId = this.addressOf(reply)
    this.#confirm(reply)
    return reply.body
  }

  protected get metadata(): Record<string, string> {
    const [filename, filetype] = [this.name, DECLARED.type].map((text) =>
      Buffer.from(text).toString('base64'),
    )
    return { 'upload-metadata': `filename ${filename},filetype ${filetype}` }
  }

  protected async resume(): Promise<void> {
    const head = await this.request('HEAD', undefined, {})
    this.leaveIfForgotten(head)
    if (head === 'nothing') return
    if (head.status === 404 || head.status === 410) this.end = 'gone'
    if (head.status !== 200) return
    this.#isDeclared = head.headers['Upload-Length'] !== undefined
    this.#confirm(head)
    while (!this.end && (await this.#goOn()));
  }

  /** Returns false if the client has to request the offset. */
  async #goOn(): Promise<boolean> {
    const sending = this.sendBody(this.confirmedBytes, (body) => this.#append(body))
    // Sometimes cancels while the body is still in flight.
    const isCanceling = await this.cancels(() => this.request('DELETE', undefined, {}))
    const accepted = (await sending).filter(({ status }) => status === 204)
    if (isCanceling || accepted.length === 0) return false
    this.#confirm(furthest(accepted))
    return true
  }

  async #append(body: Buffer): Promise<Reply> {
    const from = this.confirmedBytes
    const isLast = from + body.length === this.source.length
    const declares = !this.#isDeclared && this.endsWith(body, isLast ? 60 : this.plan.declarePercent)
    const headers = {
      'upload-offset': String(from),
      ...(declares && { 'upload-length': String(this.source.length) }),
    }
    const reply = await this.request('PATCH', body, headers)
    if (reply !== 'nothing' && reply.status === 204) this.#isDeclared ||= declares
    return reply
  }

  /** Nobody ever decides about the file, whose end the client cannot learn otherwise. */
  protected leaveIfForgotten(reply: Reply): void {
    if (reply !== 'nothing' && reply.status === 423 && this.world.receiver.hasForgotten(this.name))
      this.end = 'left'
  }

  #confirm(reply: Exclude<Reply, 'nothing'>): void {
    this.confirm(reply)
    if (this.confirmedBytes === this.source.length && this.#isDeclared) this.end = 'done'
  }

  protected request(
    method: string,
    body: Buffer | undefined,
    headers: Record<string, string>,
  ): Promise<Reply> {
    const digest = body && this.digestOf(body, 'sha1')
    const ofBody = body && {
      'content-type': 'application/offset+octet-stream',
      ...(digest && { 'upload-checksum': `sha1 ${digest}` }),
    }
    return this.send({ method, headers: { 'tus-resumable': '1.0.0', ...ofBody, ...headers } }, body)
  }
}

/** A piece of a file that is joined later. */
export class PieceClient extends TusClient {
  protected override get creation(): Record<string, string> {
    return { 'upload-concat': 'partial' }
  }

  protected override get declaration(): Record<string, string> {
    return {}
  }
}

/** Sends its file in pieces, all at the same time, and has them joined. */
export class JoiningClient extends TusClient {
  protected override async attempt(): Promise<void> {
    await Promise.all(this.pieces.map((piece) => piece.run()))
    this.end = this.pieces.find(({ end }) => end !== 'done')?.end
    if (this.end) return
    const addresses = this.pieces.map(({ fileId }) => `/pipes/${this.world.site.pipeId}/files/${fileId}`)
    const concat = { 'upload-concat': `final;${addresses.join(' ')}` }
    const reply = await this.request('POST', undefined, { ...this.metadata, ...concat })
    this.leaveIfForgotten(reply)
    if (reply === 'nothing') return
    if (reply.status === 400) this.end = 'gone'
    if (reply.status !== 201) return
    this.fileId = this.addressOf(reply)
    this.end = 'done'
  }
}

/** The lanes of a file that wait for each other. */
class Gathering {
  readonly #absent: Set<SimulatedClient>
  readonly #complete = Promise.withResolvers<void>()

  constructor(clients: readonly SimulatedClient[]) {
    this.#absent = new Set(clients)
  }

  join(client: SimulatedClient): Promise<void> {
    this.#absent.delete(client)
    if (this.#absent.size === 0) this.#complete.resolve()
    return this.#complete.promise
  }
}

/** A range of a file with lanes. Its file ends all of them. */
class LaneClient extends TusClient {
  gathering: Gathering | undefined

  override async run(): Promise<void> {
    await super.run()
    void this.gathering?.join(this)
  }

  protected override async cancels(): Promise<boolean> {
    return false
  }

  protected override async request(...[method, body, headers]: Parameters<TusClient['request']>) {
    const isLast = method === 'PATCH' && this.confirmedBytes + body!.length === this.source.length
    if (isLast) await this.gathering?.join(this)
    return super.request(method, body, headers)
  }
}

/** Sends the lanes of its file at the same time. */
export class LanesClient extends TusClient {
  protected override get creation(): Record<string, string> {
    return { 'upload-lanes': String(this.plan.lanes) }
  }

  protected override async attempt(): Promise<void> {
    if (this.fileId === undefined) return this.#divide()
    if (this.pieces.length > 0) {
      const sending = Promise.all(this.pieces.map((lane) => lane.run()))
      await this.cancels(() => this.request('DELETE', undefined, {}))
      await sending
      if (this.end) return
      this.end = this.pieces.find(({ end }) => end !== 'done')?.end
    }
    // A file with lanes needs its last byte again if a hook has not decided on it yet.
    if (!this.end) await this.resume()
  }

  async #divide(): Promise<void> {
    const body = await this.create()
    if (!body) return
    const { lanes }: { lanes: { url: string; firstByte: number; length: number }[] } = JSON.parse(body)
    const pieces = lanes.map(({ url, firstByte, length }) => {
      const source = this.source.subarray(firstByte, firstByte + length)
      const plan = { ...this.plan, protocol: 'lane' as const }
      const lane = new LaneClient(this.world, laneName(this.name, firstByte), source, plan)
      lane.fileId = url.split('/').at(-1)
      return lane
    })
    const gathering = this.plan.endsTogether ? new Gathering(pieces) : undefined
    for (const lane of pieces) lane.gathering = gathering
    this.pieces = pieces
  }
}
