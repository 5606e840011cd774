import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { plainAddress } from '../folders/serve-connections.ts'
import { notNow } from '../platform/kernel/errors.ts'

export type PortRange = { from: number; to: number }
/** A port on which one client may open one data connection. */
export type Reservation = { port: number; connected: Promise<Socket>; release(): void }

type Options = {
  host: string
  /** Undefined if the system may choose any port. */
  ports: PortRange | undefined
  /** Called when someone connects for whom no port is reserved. */
  onStranger: (address: string) => void
}
type Port = {
  server: Server
  waiting: Map<string, (socket: Socket) => void>
  /** Undefined if another process uses the port. */
  number: Promise<number | undefined>
}

/**
 * The ports for data connections. A connection is only accepted from an address that waits for one, so all addresses
 * can use each port at the same time, and none of them can use up the ports of the others. A port is only open while
 * somebody waits for a connection, because other processes on this machine use the same range.
 */
export class PassivePorts {
  readonly #options: Options
  readonly #open = new Map<number, Port>()

  constructor(options: Options) {
    this.#options = options
  }

  async reserve(address: string): Promise<Reservation> {
    for (const wanted of this.#candidates()) {
      const port = this.#open.get(wanted) ?? this.#listen(wanted)
      if (port.waiting.has(address)) continue
      const { promise: connected, resolve } = Promise.withResolvers<Socket>()
      port.waiting.set(address, resolve)
      const number = await port.number
      if (number === undefined) continue
      return {
        port: number,
        connected,
        release: () => this.#release(wanted, port, { address, resolve, connected }),
      }
    }
    throw notNow('Every data port is in use. Try again in a moment.')
  }

  /** In random order, so that nobody can predict a client's port. */
  #candidates(): number[] {
    const { ports } = this.#options
    if (!ports) return [0]
    const count = ports.to - ports.from + 1
    const first = Math.floor(Math.random() * count)
    return Array.from({ length: count }, (_, n) => ports.from + ((first + n) % count))
  }

  #listen(wanted: number): Port {
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      socket.on('error', () => {})
      const address = plainAddress(socket)
      const resolve = port.waiting.get(address)
      if (resolve) {
        port.waiting.delete(address)
        this.#closeIfUnused(wanted, port)
        return resolve(socket)
      }
      this.#options.onStranger(address)
      socket.destroy()
    })
    const listening = once(server, 'listening').then(
      () => (server.address() as { port: number }).port,
      () => void this.#open.delete(wanted),
    )
    const port: Port = { server, waiting: new Map(), number: listening as Promise<number | undefined> }
    // The processes of a cluster would share the port, and get each other's connections.
    server.listen({ port: wanted, host: this.#options.host, exclusive: true })
    if (wanted !== 0) this.#open.set(wanted, port)
    return port
  }

  #release(
    wanted: number,
    port: Port,
    { address, resolve, connected }: { address: string; resolve: unknown; connected: Promise<Socket> },
  ): void {
    // A connection that has arrived is not waiting any more, and belongs to whoever takes it from the promise.
    if (port.waiting.get(address) !== resolve) return void connected.then((socket) => socket.destroy())
    port.waiting.delete(address)
    this.#closeIfUnused(wanted, port)
  }

  #closeIfUnused(wanted: number, port: Port): void {
    if (port.waiting.size > 0) return
    if (this.#open.get(wanted) === port) this.#open.delete(wanted)
    port.server.close()
  }
}
