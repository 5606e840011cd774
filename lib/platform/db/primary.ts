import { Socket } from 'node:net'
import postgres from 'postgres'
import { within } from '../kernel/waits.ts'
import type { Address } from './database.ts'
import { isReadOnly } from './faults.ts'

/**
 * Where the database takes writes. An address may name several hosts, of which one is the primary and the others are its
 * standbys. All of them are asked at once, and connections go to the one that takes writes, until it no longer does. By
 * hand, since postgres.js 3.4 tries the hosts of a list again and again without a pause while none of them answers, and
 * keeps a connection to a server that has ceased to be the primary.
 */
export type Primary = {
  /** The address as if its first host were the only one. */
  address: Address
  /** A connection to the primary, which fails as any connection does if there is none. */
  open(): Promise<Socket>
  /** Resolves if a server takes writes; from then on connections go there, and those to others end. */
  find(): Promise<void>
  /** Ends the connections to a server that takes no writes; they are made anew. */
  leave(): void
}

type Host = { host: string; port: number }
type Candidate = { at: Host; address: Address }

const DEFAULT_PORT = 5432
const ASK_SECONDS = 1
const FIND_MS = 2000

export function createPrimary(address: Address): Primary {
  const candidates = readCandidates(address)
  const sockets = new Set<Socket & Partial<Host>>()
  let known = candidates.length === 1 ? candidates[0]!.at : undefined
  let finding: Promise<Host> | undefined
  const endAll = (isOver: (socket: Socket & Partial<Host>) => boolean) => {
    for (const socket of sockets) if (isOver(socket)) socket.destroy(reset())
  }
  const find = (): Promise<Host> => {
    finding ??= firstWritable(candidates, known)
      .then((found) => {
        endAll(({ host, port }) => host !== found.host || port !== found.port)
        known = found
        return found
      })
      .finally(() => {
        finding = undefined
      })
    return finding
  }
  const lost = (at: Host) => {
    if (candidates.length > 1 && known === at) known = undefined
  }
  const open = async (): Promise<Socket> => {
    const at = known ?? (await within(FIND_MS, find()).catch((error: Error) => error))
    if (at === 'late' || at instanceof Error) return failing(at === 'late' ? reset() : at)
    const socket = dial(at).once('error', () => lost(at))
    for (const one of sockets) if (one.destroyed) sockets.delete(one)
    sockets.add(socket)
    return socket
  }
  return {
    address: candidates[0]!.address,
    open,
    find: async () => void (await find()),
    leave() {
      if (candidates.length > 1) known = undefined
      endAll(() => true)
    },
  }
}

/** postgres.js takes the name on the certificate from the socket. */
function dial(at: Host): Socket & Host {
  const socket = Object.assign(new Socket(), at)
  // A balancer without a server behind it takes connections and closes them; postgres.js would connect again at once, for ever.
  socket.once('end', () => socket.bytesRead < SHORTEST_GREETING && socket.destroy(reset()))
  const connecting = at.host.includes('/')
    ? socket.connect(`${at.host}/.s.PGSQL.${at.port}`)
    : socket.connect(at.port, at.host)
  return connecting as Socket & Host
}

/** The letter, the length and the code of PostgreSQL's first message. */
const SHORTEST_GREETING = 9

/** postgres.js would not get over a failure to make the socket; it does get over one that fails. */
function failing(error: Error): Socket {
  const socket = new Socket()
  setImmediate(() => socket.destroy(error))
  return socket
}

const reset = () =>
  Object.assign(new Error('The connection to the database has ended.'), { code: 'ECONNRESET' })

/** The one that is known before others that take writes as well: nobody knows which of them is right. */
async function firstWritable(candidates: Candidate[], known: Host | undefined): Promise<Host> {
  const asked = candidates.map(({ at, address }) => ({ at, is: askWritable(address) }))
  const before = asked.find(({ at }) => at === known)
  if (before && asked.length > 1) {
    const stays = await before.is.then(
      () => true,
      () => false,
    )
    if (stays) return before.at
  }
  try {
    return await Promise.any(asked.map(({ at, is }) => is.then(() => at)))
  } catch (error) {
    const { errors } = error as AggregateError
    throw errors.find(isReadOnly) ?? errors[0]
  }
}

async function askWritable(address: Address): Promise<void> {
  const one = openClient(address, {
    max: 1,
    connect_timeout: ASK_SECONDS,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'sluice-ask' },
  })
  try {
    const [row] = await one.unsafe(`select current_setting('transaction_read_only') = 'on' as "readOnly"`)
    if (row?.readOnly) throw readOnly()
  } finally {
    void one.end({ timeout: 0 })
  }
}

const readOnly = () =>
  Object.assign(new Error('The server takes no writes: it is a standby, or was made read-only.'), {
    code: '25006',
  })

type Options = Exclude<Parameters<typeof postgres>[1], undefined>

/** A client of the primary, wherever that is. */
export function connect<Given extends Options>(
  address: Address,
  options: Given,
  primary = createPrimary(address),
) {
  return openClient(primary.address, { ...options, socket: primary.open })
}

function openClient<Given extends Options>(address: Address, options: Given) {
  return typeof address === 'string' ? postgres(address, options) : postgres({ ...address, ...options })
}

const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s

/** A candidate for each host; undefined if the text is no address. */
export function readUrl(text: string): Candidate[] | undefined {
  const [, before, hosts, after] = text.match(URL_PARTS) ?? []
  const urls = hosts?.split(',').map((host) => `${before}${host}${after}`)
  if (!urls?.every((url) => URL.canParse(url))) return undefined
  return urls.map((one) => {
    const url = new URL(one)
    // Whatever is asked for: Sluice needs a server that takes writes.
    url.searchParams.delete('target_session_attrs')
    const host = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost'
    return { at: { host, port: Number(url.port) || DEFAULT_PORT }, address: url.href }
  })
}

function readCandidates(address: Address): Candidate[] {
  if (typeof address !== 'string') return [{ at: { host: address.host, port: address.port }, address }]
  const candidates = readUrl(address)
  if (!candidates) throw new Error('The address of the database cannot be read.')
  return candidates
}
