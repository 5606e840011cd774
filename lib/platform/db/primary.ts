import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { patience, within } from '../kernel/waits.ts'
import type { Address } from './database.ts'
import { isReadOnly } from './faults.ts'

type Host = { host: string; port: number }
type Candidate = { at: Host; address: Address }
/** `server` identifies the server. It changes when the server is restarted or a different one takes over. */
type Found = Candidate & { server: string }

export type PrimaryOptions = {
  /**
   * Called when a different server responds. Connections to that server wait until this is done, up to a time limit.
   */
  onChange?: (address: Address) => Promise<void>
}

const DEFAULT_PORT = 5432
const ANSWER_MS = 2000
const ASK_MS = 1000
const FIND_MS = 2000
const CHANGE_MS = 3000
const LOOK_EVERY_MS = 250

/**
 * Finds the server that accepts writes. An address may list several hosts: one primary and its standbys. All are
 * queried at the same time, and connections go to the one that accepts writes, until it no longer does. This is
 * handwritten because postgres.js 3.4 keeps trying a list of hosts without a pause while none responds, and keeps a
 * connection to a server that is no longer the primary.
 */
export class Primary {
  /** The address, reduced to its first host. */
  readonly address: Address
  readonly #candidates: Candidate[]
  readonly #onChange: PrimaryOptions['onChange']
  readonly #sockets = new Set<Socket & Partial<Host>>()
  #known: Host | undefined
  #server: string | undefined
  #finding: Promise<Host> | undefined
  #isLooking = false
  #isClosed = false

  constructor(address: Address, { onChange }: PrimaryOptions = {}) {
    this.#candidates = readCandidates(address)
    this.#onChange = onChange
    this.address = this.#candidates[0]!.address
    if (!this.#isWatched) this.#known = this.#candidates[0]!.at
  }

  /**
   * Resolves if a server accepts writes; new connections then go to that server, and connections to others are closed.
   */
  async find(): Promise<void> {
    await this.#find()
  }

  /** Opens a connection to the primary. If there is no primary, the socket fails like that of any other connection. */
  async open(): Promise<Socket> {
    const at = await this.#locate().catch((error: Error) => error)
    if (at instanceof Error) return failing(at)
    const socket = dial(new Socket(), at)
    socket.once('close', () => void this.#untilFound())
    this.#sockets.add(socket)
    return socket
  }

  /** Like `open`, for pg, which creates a socket first and then passes the address. */
  socket(): Socket {
    const socket = new Socket()
    const connect = socket.connect.bind(socket) as Dial
    socket.connect = () => {
      this.#locate().then(
        (at) => this.#sockets.add(dial(socket, at, connect)),
        (error: Error) => socket.destroy(error),
      )
      return socket
    }
    return socket
  }

  /** The current server, for the log. */
  get place(): string | undefined {
    return this.#known && `${this.#known.host}:${this.#known.port}`
  }

  /** Closes connections to a server that accepts no writes; new ones are opened when needed. */
  leave(): void {
    if (this.#isWatched) this.#known = undefined
    this.#endAll(() => true)
  }

  close(): void {
    this.#isClosed = true
  }

  get #isWatched(): boolean {
    return this.#candidates.length > 1 || this.#onChange !== undefined
  }

  #endAll(isOver: (socket: Socket & Partial<Host>) => boolean): void {
    for (const socket of this.#sockets) if (isOver(socket)) socket.destroy(reset())
  }

  #find(): Promise<Host> {
    this.#finding ??= firstWritable(this.#candidates, this.#known)
      .then((found) => this.#found(found))
      .finally(() => {
        this.#finding = undefined
      })
    return this.#finding
  }

  async #found({ at, address, server }: Found): Promise<Host> {
    this.#endAll(({ host, port }) => host !== at.host || port !== at.port)
    const isOther = this.#server !== undefined && this.#server !== server
    this.#server = server
    if (isOther && this.#onChange) await within(CHANGE_MS, this.#onChange(address))
    this.#known = at
    return at
  }

  async #locate(): Promise<Host> {
    this.#lookAround()
    const at = this.#known ?? (await Promise.race([this.#find(), patience(FIND_MS + CHANGE_MS)]))
    if (at === 'late') throw reset()
    return at
  }

  /**
   * After a connection has ended, the next connection checks whether the server is still the same and still the
   * primary.
   */
  #lookAround(): void {
    for (const one of this.#sockets) {
      if (!one.destroyed) continue
      this.#sockets.delete(one)
      if (this.#isWatched) this.#known = undefined
    }
  }

  /**
   * Keeps looking for the primary even if the process is idle, because it may remember commits that the next primary is
   * missing.
   */
  async #untilFound(): Promise<void> {
    if (this.#isLooking || this.#isClosed || !this.#onChange) return
    this.#isLooking = true
    do await sleep(LOOK_EVERY_MS, undefined, { ref: false })
    while (!this.#isClosed && (await this.#locate().catch(() => undefined)) === undefined)
    this.#isLooking = false
  }
}

/**
 * Connects a socket. postgres.js reads the expected name in the certificate from the socket's `host`. Its own time
 * limit is not used, because it would include time in which this process is too busy to read the response.
 */
function dial(
  made: Socket,
  at: Host,
  connect = made.connect.bind(made) as Dial,
  answerWithinMs = ANSWER_MS,
): Socket & Host {
  const socket = endingLater(Object.assign(made, at))
  // A load balancer without a server accepts connections and closes them, and postgres.js would keep reconnecting.
  socket.once('end', () => socket.bytesRead < SHORTEST_GREETING && socket.destroy(reset()))
  connect(at.host.includes('/') ? { path: `${at.host}/.s.PGSQL.${at.port}` } : at)
  void patience(answerWithinMs).then(() => socket.bytesRead === 0 && socket.destroy(silent()))
  return socket
}

type Dial = (to: Host | { path: string }) => unknown

/** The type, length and code of PostgreSQL's first message. */
const SHORTEST_GREETING = 9

/** postgres.js does not handle a failure to create the socket, but it does handle a socket that fails. */
function failing(error: Error): Socket {
  const socket = endingLater(new Socket())
  // Discards the first message that postgres.js writes.
  socket.write = () => true
  setImmediate(() => socket.destroy(error))
  return socket
}

/**
 * postgres.js 3.4 writes at the end of a turn of the event loop. If a socket is destroyed before that, one message is
 * never sent, not even on the next connection, which then fails for two seconds. So sockets are destroyed one turn
 * later.
 */
function endingLater<Made extends Socket>(socket: Made): Made {
  const destroy = socket.destroy.bind(socket)
  socket.destroy = (error) => {
    setImmediate(() => destroy(error))
    return socket
  }
  return socket
}

const reset = () =>
  Object.assign(new Error('The connection to the database has ended.'), { code: 'ECONNRESET' })

const silent = () =>
  Object.assign(new Error('The database server does not respond.'), { code: 'CONNECT_TIMEOUT' })

/**
 * If several servers accept writes, the known one takes precedence, because nothing shows which of them is the right
 * one.
 */
async function firstWritable(candidates: Candidate[], known: Host | undefined): Promise<Found> {
  const asked = candidates.map((one) => askServer(one).then((server): Found => ({ ...one, server })))
  const any = Promise.any(asked)
  any.catch(() => {})
  const before = candidates.findIndex(({ at }) => at === known)
  if (before >= 0 && asked.length > 1) {
    const stays = await asked[before]!.catch(() => undefined)
    if (stays) return stays
  }
  try {
    return await any
  } catch (error) {
    const { errors } = error as AggregateError
    // The error of a standby, which accepts no writes, does not explain why a primary did not respond.
    if (before >= 0 && isReadOnly(errors[before])) throw errors[before]
    throw errors.find((fault) => !isReadOnly(fault)) ?? errors[0]
  }
}

/** Returns the server's identity, if it accepts writes. */
async function askServer({ address, at }: Candidate): Promise<string> {
  const one = openClient(address, {
    max: 1,
    socket: () => dial(new Socket(), at, undefined, ASK_MS),
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'sluice-ask' },
  })
  try {
    const [row] = await one.unsafe(
      `select current_setting('transaction_read_only') = 'on' as "readOnly", pg_postmaster_start_time()::text as server`,
    )
    if (row!.readOnly) throw readOnly()
    return row!.server
  } finally {
    void one.end({ timeout: 0 })
  }
}

const readOnly = () =>
  Object.assign(new Error('The server accepts no writes: it is a standby, or was made read-only.'), {
    code: '25006',
  })

type Options = Exclude<Parameters<typeof postgres>[1], undefined>

/** A client for the primary, wherever it is. */
export function connect<Given extends Options>(
  address: Address,
  options: Given,
  primary = new Primary(address),
) {
  return openClient(primary.address, { ...options, socket: () => primary.open() })
}

function openClient<Given extends Options>(address: Address, given: Given) {
  const options = { ...given, connect_timeout: GREETING_SECONDS }
  return typeof address === 'string' ? postgres(address, options) : postgres({ ...address, ...options })
}

/** The time limit from a server's first response until the connection can be used. */
const GREETING_SECONDS = 20

const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s

/** Returns a candidate for each host, or undefined if `text` is not a valid address. */
export function readUrl(text: string): Candidate[] | undefined {
  const [, before, hosts, after] = text.match(URL_PARTS) ?? []
  const urls = hosts?.split(',').map((host) => `${before}${host}${after}`)
  if (!urls?.every((url) => URL.canParse(url))) return undefined
  return urls.map((one) => {
    const url = new URL(one)
    // This parameter is ignored: Sluice needs a server that accepts writes.
    url.searchParams.delete('target_session_attrs')
    const host = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost'
    return { at: { host, port: Number(url.port) || DEFAULT_PORT }, address: url.href }
  })
}

function readCandidates(address: Address): Candidate[] {
  if (typeof address !== 'string') return [{ at: { host: address.host, port: address.port }, address }]
  const candidates = readUrl(address)
  if (!candidates) throw new Error('The database address is invalid.')
  return candidates
}
