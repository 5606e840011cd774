import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { CoreReply, CoreRequest } from './core.ts'
import { Exchange, type Interim, type Reply } from './exchange.ts'
import type { World } from './world.ts'

export type UploadPlan = {
  /**
   * `join`: TUS partial uploads, which a final request joins into one file. `lanes`: TUS over several connections, each
   * of which is a `lane`. `folder`: writes to a directory, as over SFTP. `import`: fetched from a server.
   */
  protocol: 'tus' | 'http' | 'resumable-http' | 'join' | 'lanes' | 'lane' | 'folder' | 'import'
  bytes: number
  /** Whether the first bytes match the declared type. Nobody notices unless the Pipe verifies the content. */
  isWhatItSays: boolean
  /** A later request declares the length. */
  deferred: boolean
  /** The percentage of requests, other than the last one, that declare the length. */
  declarePercent: number
  /** Bodies have a checksum, so they take effect entirely or not at all. */
  checksums: boolean
  /** The first bytes arrive with the request that creates the upload. */
  withCreation: boolean
  /** The maximum per request; `varied` means that each request has a different size, many of them small. */
  requestBytes: number | 'varied'
  /** The maximum number of chunks of a body. */
  mostChunks: number
  /** The percentage of requests sent twice at once, as from two windows, possibly with bodies of different sizes. */
  twicePercent: number
  /** How long it waits for a response while things go wrong. */
  patienceMs: number
  /** The percentage of pauses that are longer than a lease lasts. */
  latePercent: number
  /** It starts after hours, or once the disturbances have ended. */
  startsLate: boolean
  /** The draft version of a Resumable Uploads for HTTP client; without one, it does not learn the address early. */
  interop: string | undefined
  /** How many lanes it asks for. */
  lanes: number
  /** Its lanes wait for each other before their last requests. */
  endsTogether: boolean
  /** Whether it declares the checksum of the entire file, or that of other bytes. */
  declares: 'nothing' | 'its checksum' | 'another checksum'
  /** The server from which it is imported can send the rest of a file. */
  resumesImports: boolean
  /** Where a joined file is cut into pieces. */
  cuts: number[]
}

/** The type that every client declares, and the first bytes that such a file has. A fourth byte of f7 is another type. */
export const DECLARED = { type: 'image/jpeg', signature: Buffer.from('ffd8ffe0', 'hex') }

/** Returns the reply with the largest offset. */
export function furthest<Told extends Pick<CoreReply, 'headers'>>(replies: readonly Told[]): Told {
  const offsetOf = ({ headers }: Told) => Number(headers['Upload-Offset'] ?? 0)
  return replies.reduce((best, reply) => (offsetOf(reply) > offsetOf(best) ? reply : best))
}

export const PATIENCE_MS = 30_000

type Sending = Pick<CoreRequest, 'method'> & { headers: Record<string, string> }

/** Tiny requests, which stay in tails, and some that end next to a part boundary of 5 to 8 KiB. */
const VARIED_BYTES = [1500, 1, 400, 5119, 5120, 5121, 8191, 8192, 8193]

/** One file, sent until it has arrived or the client gives up. Repeated bytes are always the same. */
export abstract class SimulatedClient {
  readonly name: string
  readonly source: Buffer
  readonly plan: UploadPlan
  /** The upload whose address the client knows. */
  fileId: string | undefined
  /** Bytes that a node has confirmed to the client. */
  confirmedBytes = 0
  /** The clients of its pieces. */
  pieces: SimulatedClient[] = []
  /**
   * `refused`: no quota is left for it. `rejected`: by the customer's backend. `left`: nobody ever decides, or it never
   * returns.
   */
  end: 'done' | 'gone' | 'canceled' | 'refused' | 'rejected' | 'left' | undefined
  protected readonly world: World
  protected abstract readonly protocol: CoreRequest['protocol']

  constructor(world: World, name: string, source: Buffer, plan: UploadPlan) {
    this.world = world
    this.name = name
    this.source = source
    this.plan = plan
  }

  async run(): Promise<void> {
    while (!this.end) {
      await this.attempt()
      if (!this.end) await this.world.pause(this.name, this.#pauseMs())
    }
  }

  #pauseMs(): number {
    const { isTroubled, choices } = this.world
    const isLate = isTroubled && choices.percent(this.plan.latePercent)
    return choices.pick(isLate ? [16_000, 20_000, 40_000] : [50, 1000, 5000])
  }

  protected abstract attempt(): Promise<void>

  protected confirm({ headers }: Pick<Exclude<Reply, 'nothing'>, 'headers'>): void {
    const offset = Number(headers['Upload-Offset'] ?? 0)
    this.world.invariants.offsetTold(this, offset)
    this.confirmedBytes = offset
  }

  protected addressOf({ headers }: Pick<Exclude<Reply, 'nothing'>, 'headers'>): string | undefined {
    return headers.Location?.split('/').at(-1)
  }

  /** The body of the next request. */
  protected bodyFrom(from: number): Buffer {
    const { requestBytes } = this.plan
    const bytes = requestBytes === 'varied' ? this.world.choices.pick(VARIED_BYTES) : requestBytes
    return this.source.subarray(from, from + bytes)
  }

  /** Occasionally cancels the upload. Returns true if it has tried. */
  protected async cancels(cancel: () => Promise<Reply>): Promise<boolean> {
    const { isTroubled, choices, habits } = this.world
    if (!isTroubled || !choices.percent(habits.cancelPercent)) return false
    const reply = await cancel()
    if (reply !== 'nothing' && reply.status === 204) this.end = 'canceled'
    return true
  }

  /** Sends bytes, occasionally twice at once, like an impatient client. Returns the responses in turn. */
  protected async sendBody(
    from: number,
    send: (body: Buffer) => Promise<Reply>,
  ): Promise<Exclude<Reply, 'nothing'>[]> {
    const { isTroubled, choices } = this.world
    const isTwice = isTroubled && choices.percent(this.plan.twicePercent)
    const bodies = Array.from({ length: isTwice ? 2 : 1 }, () => this.bodyFrom(from))
    const replies = await Promise.all(bodies.map(send))
    return replies.filter((reply) => reply !== 'nothing')
  }

  /**
   * Whether a request also declares the file's length, or that it is complete. A request without bytes always
   * does.
   */
  protected endsWith(body: Buffer, percent: number): boolean {
    return body.length === 0 || this.world.choices.percent(percent)
  }

  /** Declares the checksum of the entire file, with the request that creates the upload. */
  protected get declaration(): Record<string, string> {
    const { declares } = this.plan
    if (declares === 'nothing') return {}
    const sum = Buffer.alloc(4)
    sum.writeUInt32BE(crc32(this.source))
    if (declares === 'another checksum') sum[0]! ^= 1
    return { 'repr-digest': `crc32=:${sum.toString('base64')}:` }
  }

  /** Occasionally, the bytes are damaged in transit: the node must then reject them. */
  protected digestOf(body: Buffer, algorithm: 'sha1' | 'sha256'): string | undefined {
    if (!this.plan.checksums) return undefined
    const { isTroubled, choices } = this.world
    const isDamaged = isTroubled && choices.percent(25)
    const sum = createHash(algorithm).update(body)
    return sum.update(isDamaged ? 'damaged' : '').digest('base64')
  }

  protected async send(
    { method, headers }: Sending,
    body: Buffer = Buffer.alloc(0),
    onInterim?: Interim,
  ): Promise<Reply> {
    const { world } = this
    const node = world.choices.pick(world.nodes)
    const at = headers['upload-offset']
    const what = [method, at && `at ${at}`, body.length > 0 && `with ${body.length} bytes`]
      .filter(Boolean)
      .join(' ')
    await world.scheduler.parked(
      { actor: this.name, label: `sends ${what} to node ${node.host.name}` },
      () => {},
    )
    const isSized = body.length === 0 || !world.choices.percent(20)
    const framing = isSized ? { 'content-length': String(body.length) } : { 'transfer-encoding': 'chunked' }
    const full = {
      method,
      protocol: this.protocol,
      fileId: method === 'POST' ? undefined : this.fileId,
      pipeId: world.site.pipeId,
      headers: { authorization: `Bearer ${world.site.token}`, ...framing, ...headers },
    }
    const chunks = world.choices.whole(1, this.plan.mostChunks)
    const patienceMs = world.isTroubled ? this.plan.patienceMs : PATIENCE_MS
    const manner = { what, chunks, patienceMs, onInterim }
    const reply = await new Exchange(world, this.name, node).send(full, body, manner)
    if (reply !== 'nothing' && reply.code === 'quota_exceeded') this.end = 'refused'
    if (reply !== 'nothing' && reply.code === 'type_mismatch') this.end = 'gone'
    // Of the body or of the file: this client's file is refused in the end.
    const isRefused = this.plan.declares === 'another checksum' && reply !== 'nothing'
    if (isRefused && reply.code === 'checksum_mismatch') this.end = 'gone'
    if (reply !== 'nothing' && reply.code === 'upload_rejected') this.end = 'rejected'
    if (this.fileId !== undefined && world.receiver.forgotten.has(this.fileId)) this.end ??= 'left'
    return reply
  }
}
