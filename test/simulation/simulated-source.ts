import { EventEmitter } from 'node:events'
import { cutUp, SimulatedBody } from './exchange.ts'
import { SOURCE } from './load-core.ts'
import { DECLARED } from './simulated-client.ts'
import { currentHost } from './simulated-time.ts'
import type { World } from './world.ts'

type Asked = { url: string; own: Record<string, string> }

let source: SimulatedSource

/** Makes imports fetch from the simulated server. Call it once. */
export function replaceSource(): void {
  Object.assign(globalThis, {
    [SOURCE]: (_: unknown, asked: Asked, __: unknown, signal: AbortSignal) => source.get(asked, signal),
  })
}

/**
 * The server from which files are imported: it may be unavailable, send files from the start although only the rest was
 * requested, and cut connections.
 */
export class SimulatedSource {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
    source = this
  }

  async get({ url, own }: Asked, signal: AbortSignal): Promise<unknown> {
    const { scheduler, choices, habits, clients } = this.#world
    const host = currentHost.getStore()!
    const name = url.split('/').at(-1)!
    const { bytes, plan } = {
      plan: clients.find((one) => one.name === name)!.plan,
      bytes: clients.find((one) => one.name === name)!.source,
    }
    const isTroubled = () => this.#world.isTroubled
    await scheduler.parked({ actor: host.name, label: `requests ${name} from its source`, host }, () => {})
    signal.throwIfAborted()
    const response = Object.assign(new SimulatedBody(), { statusCode: 200, socket: new EventEmitter() })
    if (isTroubled() && choices.percent(20)) return Object.assign(response, { statusCode: 503 })
    const from = plan.resumesImports ? Number(/\d+/.exec(own.Range ?? '')?.[0] ?? 0) : 0
    const rest = bytes.subarray(from)
    response.headers = {
      'content-type': DECLARED.type,
      ...(plan.deferred ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(rest.length) }),
      ...(plan.resumesImports && { etag: '"1"' }),
    }
    if (from > 0) {
      const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`
      Object.assign(response, { statusCode: from < bytes.length ? 206 : 416 })
      response.headers['content-range'] = from < bytes.length ? range : `bytes */${bytes.length}`
    }
    const chunks = cutUp(rest, choices.whole(1, plan.mostChunks))
    const cutAfter =
      isTroubled() && choices.percent(habits.cutPercent) ? choices.below(chunks.length + 1) : Infinity
    const sendOn = (sent: number) => {
      const chunk = chunks[sent]
      const isCut = sent >= cutAfter || signal.aborted
      const label = isCut
        ? 'cuts the connection'
        : chunk
          ? `sends ${chunk.length} bytes of ${name}`
          : `has sent ${name}`
      const isPossible = () => isCut || !response.isPaused
      scheduler.park({
        actor: 'source',
        label,
        host,
        isPossible,
        run: () => {
          const emit = () =>
            isCut
              ? response.emit('close')
              : chunk
                ? response.emit('data', Buffer.from(chunk))
                : response.emit('end')
          void currentHost.run(host, emit)
          if (chunk && !isCut) sendOn(sent + 1)
        },
      })
    }
    sendOn(0)
    return response
  }
}
