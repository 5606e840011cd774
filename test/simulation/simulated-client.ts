import { createHash } from 'node:crypto'
import type { CoreReply, CoreRequest } from './core.ts'
import { Exchange, type Reply } from './exchange.ts'
import type { World } from './world.ts'

export type UploadPlan = {
  protocol: 'tus' | 'http'
  bytes: number
  /** The length is declared with a later request. */
  deferred: boolean
  /** Bodies carry a checksum, so they count entirely or not at all. */
  checksums: boolean
  /** The first bytes come with the request that creates the upload. */
  withCreation: boolean
  /** The most that one request brings. */
  requestBytes: number
}

type Sending = Pick<CoreRequest, 'method' | 'protocol'> & { headers: Record<string, string> }

/** One file, sent until it is there or the client gives up. What it sends again is always the same. */
export class SimulatedClient {
  readonly name: string
  readonly source: Buffer
  readonly plan: UploadPlan
  /** The upload that it knows the address of. */
  fileId: string | undefined
  /** Bytes that a node has confirmed to it. */
  confirmedBytes = 0
  end: 'done' | 'gone' | 'canceled' | undefined
  readonly #world: World
  #isDeclared = false

  constructor(world: World, name: string, source: Buffer, plan: UploadPlan) {
    this.#world = world
    this.name = name
    this.source = source
    this.plan = plan
  }

  async run(): Promise<void> {
    while (!this.end) {
      if (this.plan.protocol === 'http') await this.#put()
      else if (this.fileId === undefined) await this.#create()
      else await this.#resume()
      if (!this.end) await this.#world.pause(this.name, this.#world.choices.pick([50, 1000, 5000]))
    }
  }

  async #put(): Promise<void> {
    const headers = { 'content-disposition': `attachment; filename="${this.name}"` }
    const reply = await this.#send({ method: 'POST', protocol: 'http', headers }, this.source)
    if (reply !== 'nothing' && reply.status < 300) this.end = 'done'
  }

  async #create(): Promise<void> {
    const { deferred, withCreation, requestBytes } = this.plan
    const { length } = this.source
    const body = withCreation ? this.source.subarray(0, requestBytes) : undefined
    this.#isDeclared = !deferred
    const declared: Record<string, string> = deferred
      ? { 'upload-defer-length': '1' }
      : { 'upload-length': String(length) }
    const metadata = { 'upload-metadata': `filename ${Buffer.from(this.name).toString('base64')}` }
    const reply = await this.#tus('POST', body, { ...declared, ...metadata })
    if (reply === 'nothing' || reply.status !== 201) return
    this.fileId = reply.headers.Location!.split('/').at(-1)
    this.#confirm(reply)
  }

  async #resume(): Promise<void> {
    const head = await this.#tus('HEAD', undefined, {})
    if (head === 'nothing') return
    if (head.status === 404 || head.status === 410) this.end = 'gone'
    if (head.status !== 200) return
    this.#isDeclared = head.headers['Upload-Length'] !== undefined
    this.#confirm(head)
    while (!this.end && (await this.#goOn()));
  }

  /** False if the client has to ask for the offset. */
  async #goOn(): Promise<boolean> {
    const { isTroubled, choices, habits } = this.#world
    if (isTroubled && choices.percent(habits.cancelPercent)) {
      const reply = await this.#tus('DELETE', undefined, {})
      if (reply !== 'nothing' && reply.status === 204) this.end = 'canceled'
      return false
    }
    const from = this.confirmedBytes
    const body = this.source.subarray(from, from + this.plan.requestBytes)
    const isLast = from + body.length === this.source.length
    const declares = !this.#isDeclared && (isLast || choices.percent(30))
    const reply = await this.#tus('PATCH', body, {
      'upload-offset': String(from),
      ...(declares && { 'upload-length': String(this.source.length) }),
    })
    if (reply === 'nothing' || reply.status !== 204) return false
    this.#isDeclared ||= declares
    this.#confirm(reply)
    return true
  }

  #confirm(reply: CoreReply): void {
    const offset = Number(reply.headers['Upload-Offset'] ?? 0)
    this.#world.invariants.offsetTold(this, offset)
    this.confirmedBytes = offset
    if (offset === this.source.length && this.#isDeclared) this.end = 'done'
  }

  #tus(method: string, body: Buffer | undefined, headers: Record<string, string>): Promise<Reply> {
    const ofBody = body && { 'content-type': 'application/offset+octet-stream', ...this.#checksumOf(body) }
    const all = { 'tus-resumable': '1.0.0', ...ofBody, ...headers }
    return this.#send({ method, protocol: 'tus', headers: all }, body)
  }

  /** Now and then the bytes are damaged on their way: then the node has to refuse them. */
  #checksumOf(body: Buffer): Record<string, string> {
    if (!this.plan.checksums) return {}
    const { isTroubled, choices } = this.#world
    const isDamaged = isTroubled && choices.percent(15)
    const sum = createHash('sha1')
      .update(body)
      .update(isDamaged ? 'damaged' : '')
    return { 'upload-checksum': `sha1 ${sum.digest('base64')}` }
  }

  async #send(request: Sending, body: Buffer = Buffer.alloc(0)): Promise<Reply> {
    const world = this.#world
    const node = world.choices.pick(world.nodes)
    const { method, headers } = request
    const at = headers['upload-offset']
    const what = [method, at && `at ${at}`, body.length > 0 && `with ${body.length} bytes`]
      .filter(Boolean)
      .join(' ')
    await world.scheduler.parked({ actor: this.name, label: `sends ${what} to ${node.host.name}` }, () => {})
    const isSized = body.length === 0 || !world.choices.percent(20)
    const framing = isSized ? { 'content-length': String(body.length) } : { 'transfer-encoding': 'chunked' }
    const full = {
      ...request,
      fileId: method === 'POST' ? undefined : this.fileId,
      pipeId: world.site.pipeId,
      headers: { authorization: `Bearer ${world.site.token}`, ...framing, ...headers },
    }
    return new Exchange(world, this.name, node).send(full, body, what)
  }
}
