import { Socket } from 'node:net'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { patience } from '../kernel/waits.ts'
import { type Address, type Db, rows } from './database.ts'
import { isReadOnly } from './faults.ts'

/** Whether a failover may lose commits. */
export type Standby = 'none' | 'synchronous' | 'asynchronous'

/** PostgreSQL shows every user that a standby is connected, but not whether it is synchronous: its settings show that. */
export async function standbyOf(db: Db): Promise<Standby> {
  const [found] = await rows<{ standby: Standby }>(
    db,
    sql`select case when not exists (select from pg_stat_replication) then 'none'
        when current_setting('synchronous_standby_names') = '' then 'asynchronous' else 'synchronous' end as standby`,
  )
  return found!.standby
}

type Host = { host: string; port: number }
type Candidate = { at: Host; address: Address }
const DEFAULT_PORT = 5432
const ANSWER_MS = 2000
const ASK_MS = 1000
const FIND_MS = 2000

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
  readonly #sockets = new Set<Socket & Partial<Host>>()
  #known: Host | undefined
  #finding: Promise<Host> | undefined

  constructor(address: Address) {
    this.#candidates = readCandidates(address)
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

  get #isWatched(): boolean {
    return this.#candidates.length > 1
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

  #found({ at }: Candidate): Host {
    this.#endAll(({ host, port }) => host !== at.host || port !== at.port)
    this.#known = at
    return at
  }

  async #locate(): Promise<Host> {
    this.#lookAround()
    const at = this.#known ?? (await Promise.race([this.#find(), patience(FIND_MS)]))
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
async function firstWritable(candidates: Candidate[], known: Host | undefined): Promise<Candidate> {
  const asked = candidates.map((one) => assertWritable(one).then(() => one))
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

async function assertWritable({ address, at }: Candidate): Promise<void> {
  const one = openClient(address, {
    max: 1,
    socket: () => dial(new Socket(), at, undefined, ASK_MS),
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'sluice-ask' },
  })
  try {
    const [row] = await one.unsafe(`select current_setting('transaction_read_only') = 'on' as "readOnly"`)
    if (row!.readOnly) throw readOnly()
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
