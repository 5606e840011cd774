import postgres from 'postgres'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'

type Rows = Record<string, unknown>[]
type Client = {
  unsafe(
    text: string,
    parameters?: unknown[],
    options?: { prepare?: boolean },
  ): Promise<Rows> & { values(): Promise<Rows> }
}

export type Query = {
  text: string
  parameters?: unknown[] | undefined
  prepare?: boolean
  /** Whether to return rows as arrays. */
  values?: boolean
}

/** A real PostgreSQL session, with the simulated time as its `now()`. */
export class Session {
  readonly pid: number
  readonly #client: Client
  readonly #close: () => Promise<void>
  isFree = true

  private constructor(client: Client, pid: number, close: () => Promise<void>) {
    this.#client = client
    this.pid = pid
    this.#close = close
  }

  static async open(url: string): Promise<Session> {
    const { db, close } = openPostgres({ address: url, maxConnections: 1 })
    const client = (db as unknown as { $client: Client }).$client
    const [found] = await client.unsafe('select pg_backend_pid() as pid')
    return new Session(client, found!.pid as number, close)
  }

  /** Sets the simulated time. This is sent together with the statement, so that it needs no separate round trip. */
  async setTime(nowMs: number): Promise<void> {
    const text = new Date(nowMs).toISOString()
    await this.#client.unsafe(`select set_config('simulation.now', $1, false)`, [text], { prepare: true })
  }

  async run({ text, parameters, prepare = false, values = false }: Query): Promise<Rows> {
    const query = this.#client.unsafe(text, parameters ?? [], { prepare })
    const rows = await (values ? query.values() : query)
    // Without `order by`, the order depends on the plan, which depends on earlier statements.
    return rows.length > 1 && !isOrdered(text) ? rows.sort(byContent) : rows
  }

  close(): Promise<void> {
    return this.#close()
  }
}

const ordered = new Map<string, boolean>()

function isOrdered(text: string): boolean {
  const known = ordered.get(text)
  if (known !== undefined) return known
  let outer = text
  for (let before = ''; before !== outer; ) {
    before = outer
    outer = outer.replace(/\([^()]*\)/g, '')
  }
  const is = /\border by\b/i.test(outer)
  ordered.set(text, is)
  return is
}

function byContent(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}

/** Functions in this schema come before PostgreSQL's. */
const PREPARE = [
  'create schema if not exists simulation',
  `create or replace function simulation.now() returns timestamptz language sql stable parallel safe
    as $$ select current_setting('simulation.now')::timestamptz $$`,
  `do $$ begin
    execute format('alter database %I set search_path = simulation, pg_catalog, public', current_database());
    execute format('alter database %I set simulation.now = %L', current_database(), '2027-01-01');
  end $$`,
]

/** All sessions on the simulation's database; more are opened when all are in use. */
export class Sessions {
  readonly #url: string
  readonly #all: Session[] = []
  /** For the simulation's own queries. */
  readonly own: Session
  readonly #listener: ReturnType<typeof postgres>
  #heard: { channel: string; payload: string }[] = []

  private constructor(url: string, own: Session) {
    this.#url = url
    this.own = own
    const onnotify = (channel: string, payload: string) => void this.#heard.push({ channel, payload })
    // The types do not include `onnotify`, which postgres.js itself uses to listen.
    const options = { max: 1, fetch_types: false, onnotify } as Parameters<typeof postgres>[1]
    this.#listener = postgres(url, options)
  }

  static async open(address: string): Promise<Sessions> {
    // postgres.js replaces connections after half an hour or more, even in the middle of these transactions.
    const url = `${address}?max_lifetime=0`
    const first = await Session.open(url)
    for (const text of PREPARE) await first.run({ text })
    await first.close()
    return new Sessions(url, await Session.open(url))
  }

  /** Returns the same session repeatedly if possible, since each session has to prepare its own statements. */
  async take(): Promise<Session> {
    const free = this.#all.find(({ isFree }) => isFree)
    const session = free ?? (await Session.open(this.#url))
    if (!free) this.#all.push(session)
    session.isFree = false
    return session
  }

  /** Whether any session could hold a lock that this one waits for. */
  isAlone(session: Session): boolean {
    return this.#all.every((other) => other === session || other.isFree)
  }

  /**
   * Returns only sessions of nodes, which the scheduler can let continue. Autovacuum, which also takes locks, continues
   * on its own.
   */
  async blockersOf({ pid }: Session): Promise<number[]> {
    const text = 'select unnest(pg_blocking_pids($1)) as pid'
    const found = await this.own.run({ text, parameters: [pid], prepare: true })
    const blockers = found.map((row) => row.pid as number)
    return blockers.filter((blocker) => this.#all.some((session) => session.pid === blocker))
  }

  async listen(channel: string): Promise<void> {
    await this.#listener.unsafe(`listen ${channel}`)
  }

  /**
   * Returns the notifications since the last call. The query ensures that everything committed before it has been
   * received.
   */
  async heard(): Promise<{ channel: string; payload: string }[]> {
    await this.#listener.unsafe('select 1')
    const heard = this.#heard
    this.#heard = []
    return heard
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all, this.own].map((session) => session.close()))
    await this.#listener.end({ timeout: 5 })
  }
}
