import { X509Certificate } from 'node:crypto'
import type { Resolver } from 'node:dns/promises'
import { domainToASCII } from 'node:url'
import { and, eq, isNotNull, ne } from 'drizzle-orm'
import { z } from 'zod'
import { linkHosts } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../identity/audit/record-audit.ts'
import { seconds } from '../platform/kernel/clock.ts'
import { invalidRequest } from '../platform/kernel/errors.ts'
import { toAnswer } from '../platform/kernel/parse-input.ts'
import { failSoon, type LinkHost, runShared } from '../platform/kernel/request-context.ts'
import { openResolver } from '../platform/net/guarded-agents.ts'
import { bareHost } from '../platform/net/judge-connection.ts'
import { takeFromLimit } from '../platform/rate-limits.ts'
import type { ConfiguredRuntime, Runtime } from '../platform/runtime.ts'

/**
 * A workspace's own host name for its link pages and their uploads. A TXT record that names the workspace shows that
 * whoever controls the name's DNS agrees, so nobody can take a name that is not theirs, and at most one workspace has it.
 * Only name servers are queried; nothing is ever requested from the host.
 */
const HOST = /^(?=.{4,245}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/

const hostField = z
  .string()
  .max(253, 'must have at most 253 characters')
  .transform((text, context) => {
    const name = text.trim().replace(/\.$/, '')
    // Of an address, only the host would remain.
    const host = /[/\\?#]/.test(name) ? '' : domainToASCII(name)
    if (HOST.test(host)) return host
    context.addIssue({ code: 'custom', message: 'must be a host name such as files.example.com' })
    return z.NEVER
  })

export const linkHostInput = z.strictObject({ host: hostField.nullable() })

export const linkHostAnswer = z.strictObject({
  host: z.string().nullable(),
  /** Null until a check has found the records. */
  verifiedAt: z.iso.datetime().nullable(),
  /** The records to create in DNS. */
  records: z.array(
    z.strictObject({ type: z.enum(['TXT', 'CNAME', 'A', 'AAAA']), name: z.string(), value: z.string() }),
  ),
  /** Null if the host is not verified, or this server does not get certificates itself. */
  certificate: z
    .strictObject({
      /** Null if there is none yet. New links use the host once there is one. */
      validUntil: z.iso.datetime().nullable(),
      /** Why the last attempt to get one failed, for people to read. */
      fault: z.string().nullable(),
    })
    .nullable(),
})
type Answer = z.output<typeof linkHostAnswer>

export const checkedHostAnswer = linkHostAnswer.extend({
  /** What is missing or wrong, for people to read. */
  faults: z.array(z.string()),
})

export async function readLinkHost(
  { db, config }: Pick<Runtime, 'db' | 'config'>,
  workspaceId: string,
): Promise<Answer> {
  const [found] = await db.select().from(linkHosts).where(eq(linkHosts.workspaceId, workspaceId))
  if (!found) return { host: null, verifiedAt: null, records: [], certificate: null }
  const target = bareHost(new URL(config.baseUrl).hostname)
  const type = target.includes(':') ? 'AAAA' : /^[\d.]+$/.test(target) ? 'A' : 'CNAME'
  const records: Answer['records'] = [
    { type: 'TXT', name: proofName(found.host), value: proofOf(workspaceId) },
    { type, name: found.host, value: target },
  ]
  const gets = found.verifiedAt && config.acmeDirectory
  const validUntil = found.certificate && new X509Certificate(found.certificate).validToDate.toISOString()
  const certificate = gets ? { validUntil, fault: found.certificateFault } : null
  return toAnswer(linkHostAnswer, { ...found, records, certificate })
}

const proofName = (host: string) => `_sluice.${host}`
const proofOf = (workspaceId: string) => `sluice-workspace=${workspaceId}`

/** A different host is not verified, and null removes it. */
export async function saveLinkHost(
  { db, clock, config }: ConfiguredRuntime,
  actor: Actor,
  { host }: z.output<typeof linkHostInput>,
): Promise<Answer> {
  const own = [config.baseUrl, config.uploadUrl].map((address) => new URL(address).hostname)
  if (host !== null && own.includes(host))
    throw invalidRequest([{ field: 'host', message: 'must not be the host of this server' }])
  const { workspaceId } = actor
  return db.transaction(async (tx) => {
    await tx
      .delete(linkHosts)
      .where(
        and(eq(linkHosts.workspaceId, workspaceId), host === null ? undefined : ne(linkHosts.host, host)),
      )
    if (host !== null) await tx.insert(linkHosts).values({ workspaceId, host }).onConflictDoNothing()
    const entry = { action: 'upload_link.host_changed', subjectId: workspaceId, detail: { host } }
    await recordAudit({ db: tx, clock }, actor, entry)
    return readLinkHost({ db: tx, config }, workspaceId)
  })
}

/** The limit for checks, per workspace. */
const CHECKS = { burst: 20, refillMs: seconds(10) }

type NameServers = Pick<Resolver, 'resolveTxt' | 'resolve4' | 'resolve6'>

/** A host that was verified before stays verified if a record is now missing: it is in use, and DNS may be failing. */
export async function checkLinkHost(
  runtime: ConfiguredRuntime,
  actor: Actor,
  servers: NameServers = openResolver(),
): Promise<z.output<typeof checkedHostAnswer>> {
  const { workspaceId } = actor
  const { host } = await readLinkHost(runtime, workspaceId)
  let faults: string[] = []
  if (host !== null) {
    await takeFromLimit(runtime, `link-host:${workspaceId}`, CHECKS)
    const { proofs, ...found } = await lookUp(host, proofOf(workspaceId), servers)
    faults = found.faults.length > 0 ? found.faults : await verify(runtime, actor, host, proofs)
    if (faults.length === 0) await orderAgain(runtime, workspaceId)
  }
  return { ...(await readLinkHost(runtime, workspaceId)), faults }
}

/** Whoever presses the button may have removed what prevented the certificate. */
async function orderAgain({ db }: Pick<Runtime, 'db'>, workspaceId: string): Promise<void> {
  await db
    .update(linkHosts)
    .set({ certificateDueAt: null })
    .where(and(eq(linkHosts.workspaceId, workspaceId), isNotNull(linkHosts.certificateFault)))
}

async function lookUp(host: string, proof: string, servers: NameServers) {
  const name = proofName(host)
  const [texts, ipv4, ipv6] = await Promise.all([
    orNone(servers.resolveTxt(name)),
    orNone(servers.resolve4(host)),
    orNone(servers.resolve6(host)),
  ])
  const proofs = (texts ?? []).map((parts) => parts.join(''))
  const resolves = Boolean(ipv4?.length || ipv6?.length)
  const faults: string[] = []
  if (!texts || (!resolves && !(ipv4 && ipv6)))
    faults.push(`The name servers of ${host} did not answer. Try again in a moment.`)
  else if (!proofs[0]) faults.push(`There is no TXT record ${name} yet.`)
  else if (!proofs.includes(proof))
    faults.push(`The TXT record ${name} is “${printable(proofs[0])}” instead of “${proof}”.`)
  if (ipv4 && ipv6 && !resolves)
    faults.push(`${host} has no address yet: the record is missing, or its target has none.`)
  return { proofs, faults }
}

export const printable = (text: string, most = 100) => text.replace(/[^ -~]/g, '?').slice(0, most)

const NO_RECORD = new Set(['ENODATA', 'ENOTFOUND'])

/** Undefined if the name servers do not say whether there is such a record. */
function orNone<Found>(records: Promise<Found[]>): Promise<Found[] | undefined> {
  return records.catch((error: { code: string }) => (NO_RECORD.has(error.code) ? [] : undefined))
}

/** Takes the host from a workspace that it no longer names. Returns what prevents it. */
async function verify(
  { db, clock }: ConfiguredRuntime,
  actor: Actor,
  host: string,
  proofs: string[],
): Promise<string[]> {
  const { workspaceId } = actor
  return db.transaction(async (tx) => {
    const sharing = await tx
      .select()
      .from(linkHosts)
      .where(eq(linkHosts.host, host))
      .orderBy(linkHosts.workspaceId)
      .for('update')
    if (!sharing.some((row) => row.workspaceId === workspaceId)) return ['The host was changed meanwhile.']
    const holder = sharing.find(({ verifiedAt }) => verifiedAt)?.workspaceId
    if (holder === workspaceId) return []
    if (holder && proofs.includes(proofOf(holder)))
      return [`Another workspace has this host. Remove its TXT record “${proofOf(holder)}” first.`]
    const set = (of: string, verifiedAt: Date | null) =>
      tx.update(linkHosts).set({ verifiedAt }).where(eq(linkHosts.workspaceId, of))
    if (holder) await set(holder, null)
    await set(workspaceId, new Date(clock.now()))
    const entry = { action: 'upload_link.host_verified', subjectId: workspaceId, detail: { host } }
    await recordAudit({ db: tx, clock }, actor, entry)
    return []
  })
}

/** Where a workspace's link pages are: on its own host once that is verified and visitors can open it. */
export async function originOfLinks(
  { db, config }: Pick<Runtime, 'db' | 'config'>,
  workspaceId: string,
): Promise<string> {
  const { host, verifiedAt, certificate } = await readLinkHost({ db, config }, workspaceId)
  const opens = verifiedAt && (!certificate || certificate.validUntil)
  return host && opens ? originOf(config, host) : config.baseUrl
}

/** Hosts have the scheme and the port of BASE_URL. */
function originOf({ baseUrl }: { baseUrl: string }, host: string): string {
  const { protocol, port } = new URL(baseUrl)
  return `${protocol}//${host}${port && `:${port}`}`
}

/** How long it can take until a node notices that a host was verified or removed, or is challenged. */
export const HOSTS_KEPT_MS = seconds(5)

/** What requests and TLS handshakes need to know about a verified host. */
export type FoundHost = LinkHost & Pick<typeof linkHosts.$inferSelect, 'certificateDueAt' | 'challenge'>

/**
 * Finds the workspace of a verified host. Each request needs it, so all are kept for some seconds, and for longer while
 * the database is away. They are read at once, so that made-up names cause no more statements.
 */
export function createHostFinder({ db, clock, config }: ConfiguredRuntime) {
  let kept: { untilMs: number; hosts: Promise<Map<string, FoundHost>> } | undefined
  const read = () => {
    const before = kept?.hosts
    const reading = runShared(() => readVerifiedHosts({ db, config }))
    const hosts = before ? reading.catch(() => before) : reading
    const next = { untilMs: clock.now() + HOSTS_KEPT_MS, hosts }
    hosts.catch(() => {
      if (kept === next) kept = undefined
    })
    kept = next
    return hosts
  }
  return async (host: string): Promise<FoundHost | undefined> => {
    const hosts = await (kept && clock.now() < kept.untilMs ? kept.hosts : read())
    return hosts.get(host)
  }
}

async function readVerifiedHosts({
  db,
  config,
}: Pick<Runtime, 'db' | 'config'>): Promise<Map<string, FoundHost>> {
  // Uploads would wait for the database, but those to known hosts need not.
  failSoon()
  const found = await db
    .select({
      host: linkHosts.host,
      workspaceId: linkHosts.workspaceId,
      certificateDueAt: linkHosts.certificateDueAt,
      challenge: linkHosts.challenge,
    })
    .from(linkHosts)
    .where(isNotNull(linkHosts.verifiedAt))
  return new Map(found.map(({ host, ...row }) => [host, { ...row, origin: originOf(config, host) }]))
}
