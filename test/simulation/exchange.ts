import { EventEmitter } from 'node:events'
import type { CoreReply, CoreRequest } from './core.ts'
import type { Node } from './node.ts'
import type { World } from './world.ts'

/** What the client gets for a request: a response or nothing. */
export type Reply = CoreReply | 'nothing'
/** Called with the headers of a response that arrives while the body is still being sent. */
export type Interim = (headers: Record<string, string>) => void

type Manner = {
  /** Its description in a story. */
  what: string
  /** The number of chunks of its body. */
  chunks: number
  /** How long the client waits for a response before it gives up. */
  patienceMs: number
  onInterim: Interim | undefined
}

/** A client's request to a node. Its body arrives in chunks, each of which is a step. */
export class Exchange {
  readonly #world: World
  readonly #client: string
  readonly #node: Node
  readonly #body = new SimulatedBody()
  readonly #reply = Promise.withResolvers<Reply>()
  #chunks: Buffer[] = []
  #cutAfter = Infinity
  #isOver = false
  #giveUpLater = () => {}

  constructor(world: World, client: string, node: Node) {
    this.#world = world
    this.#client = client
    this.#node = node
  }

  send(
    request: Omit<CoreRequest, 'body' | 'sendInterim'>,
    body: Buffer,
    { what, chunks, patienceMs, onInterim }: Manner,
  ): Promise<Reply> {
    const { choices, habits, isTroubled, scheduler } = this.#world
    const node = this.#node
    if (node.host.state === 'dead') return Promise.resolve('nothing')
    this.#chunks = cutUp(body, chunks)
    if (isTroubled && body.length > 0 && choices.percent(habits.cutPercent))
      this.#cutAfter = choices.below(this.#chunks.length + 1)
    this.#giveUpLater = scheduler.park({
      actor: this.#client,
      label: `stops waiting for the answer to ${what}`,
      dueMs: scheduler.nowMs + patienceMs,
      run: () => this.giveUp(),
    })
    node.exchanges.add(this)
    this.#body.headers = request.headers
    const sendInterim = onInterim && this.#interim(onInterim)
    node.on(() => void this.#serve({ ...request, body: this.#body, sendInterim }))
    this.#sendOn(0)
    return this.#reply.promise
  }

  /** The node may or may not notice: data in flight may still arrive. */
  giveUp(): void {
    if (this.#isOver) return
    if (this.#world.choices.percent(50)) this.#close()
    this.#end('nothing')
  }

  /** The node has died. */
  break(): void {
    this.#end('nothing')
  }

  #end(reply: Reply): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#node.exchanges.delete(this)
    this.#giveUpLater()
    this.#reply.resolve(reply)
  }

  #interim(onInterim: Interim): CoreRequest['sendInterim'] {
    return (_, headers) => {
      if (this.#isOver) return false
      const label =
        'Location' in headers ? 'is told the address' : `is told offset ${headers['Upload-Offset']}`
      this.#world.scheduler.park({
        actor: this.#client,
        label,
        host: this.#node.host,
        // A client that has given up on a request no longer reads its responses.
        run: () => (this.#isOver ? undefined : onInterim(headers)),
      })
      return true
    }
  }

  async #serve(request: CoreRequest): Promise<void> {
    const { host, core } = this.#node
    const reply = await core!.handle(request)
    const at = reply?.headers['Upload-Offset']
    const label = reply ? `is answered ${reply.status}${at ? ` with offset ${at}` : ''}` : 'is not answered'
    this.#world.scheduler.park({ actor: this.#client, label, host, run: () => this.#end(reply ?? 'nothing') })
  }

  #sendOn(sent: number): void {
    const { host } = this.#node
    const chunk = this.#chunks[sent]
    const isCut = sent >= this.#cutAfter
    const label = isCut
      ? 'is cut off'
      : chunk
        ? `sends ${chunk.length} bytes of the body`
        : 'has sent the whole request'
    const run = () => {
      if (isCut) {
        this.#close()
        return this.#end('nothing')
      }
      this.#node.on(() => (chunk ? this.#body.emit('data', Buffer.from(chunk)) : this.#body.emit('end')))
      if (chunk) this.#sendOn(sent + 1)
    }
    const isPossible = () => isCut || !this.#body.isPaused
    this.#world.scheduler.park({ actor: this.#client, label, host, isPossible, run })
  }

  #close(): void {
    const { host } = this.#node
    const run = () => void this.#node.on(() => this.#body.emit('close'))
    if (host.state === 'up') run()
    else this.#world.scheduler.park({ actor: this.#client, label: 'has closed its connection', host, run })
  }
}

/** Stands in for the request of Node's HTTP server, or the response that an import reads. */
export class SimulatedBody extends EventEmitter {
  headers: Record<string, unknown> = {}
  trailers = {}
  isPaused = false
  isDestroyed = false

  pause(): this {
    this.isPaused = true
    return this
  }

  resume(): this {
    this.isPaused = false
    return this
  }

  destroy(): this {
    this.isDestroyed = true
    this.emit('close')
    return this
  }
}

export function cutUp(body: Buffer, count: number): Buffer[] {
  const size = Math.max(Math.ceil(body.length / count), 1)
  const chunks = []
  for (let from = 0; from < body.length; from += size) chunks.push(body.subarray(from, from + size))
  return chunks
}
