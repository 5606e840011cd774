import { createPrivateKey, X509Certificate } from 'node:crypto'
import { and, eq, isNotNull, lte, ne, sql } from 'drizzle-orm'
import { acmeAccounts, linkHosts } from '#drizzle/schema/index.ts'
import { createKeyPair, signingRequest, toPem } from '../platform/acme/certificates.ts'
import { AcmeError, orderCertificate } from '../platform/acme/order-certificate.ts'
import { days, hours, minutes, seconds } from '../platform/kernel/clock.ts'
import { invariant, isSluiceError } from '../platform/kernel/errors.ts'
import { pause } from '../platform/kernel/waits.ts'
import { takeFromLimit } from '../platform/rate-limits.ts'
import type { ConfiguredRuntime, Runtime } from '../platform/runtime.ts'
import type { Sweep } from '../platform/sweeps.ts'
import { type Place, sealsForColumns } from '../platform/vault.ts'
import { HOSTS_KEPT_MS, printable } from './link-host.ts'

/**
 * Certificates for the verified hosts of workspaces, from the authority in ACME_DIRECTORY. All nodes together order one
 * at a time, and keep certificates and challenges in the database, so that any node can serve them.
 */
type OrderRuntime = ConfiguredRuntime & Pick<Runtime, 'vault' | 'log'>

/** Let's Encrypt accepts 300 orders of an account in 3 hours. */
const ORDER_EVERY_MS = seconds(40)
const ORDER_TIMEOUT_MS = minutes(3)
/** If a node dies during its order, the next one may begin this long after its start. */
const ORDER_LAPSES_MS = minutes(5)
/** Of a workspace, whose host may change at any time. Let's Encrypt accepts 5 failures of a host per hour. */
const ORDERS = { burst: 4, refillMs: hours(1) }
const FIRST_RETRY_MS = minutes(10)
const LAST_RETRY_MS = days(1)

export const certificateKeyPlace = (id: string): Place => ({
  column: 'link_hosts.certificate_key',
  id,
  row: `link_hosts:${id}`,
})

export const accountKeyPlace = (id: string): Place => ({
  column: 'acme_accounts.sealed',
  id,
  row: `acme_accounts:${id}`,
})

export const certificateSweeps = (runtime: OrderRuntime): Sweep[] =>
  runtime.config.acmeDirectory
    ? [{ name: 'certificates', everyMs: ORDER_EVERY_MS, run: () => orderDueCertificate(runtime) }]
    : []

type Due = Pick<typeof linkHosts.$inferSelect, 'workspaceId' | 'host' | 'certificateFailures'>
type Account = typeof acmeAccounts.$inferSelect
type Means = { order?: typeof orderCertificate; wait?: typeof pause }

/** Orders the certificate that has been due for longest, unless another order is under way. */
export async function orderDueCertificate(runtime: OrderRuntime, means: Means = {}): Promise<number> {
  const { db, clock, log } = runtime
  const account = await openAccount(runtime)
  const now = new Date(clock.now())
  const dueSince = sql`coalesce(${linkHosts.certificateDueAt}, ${linkHosts.verifiedAt})`
  const [due] = await db
    .select()
    .from(linkHosts)
    .where(and(isNotNull(linkHosts.verifiedAt), sql`${dueSince} <= ${now.toISOString()}`))
    .orderBy(dueSince)
    .limit(1)
  if (!due || !(await begin(runtime, account))) return 0
  const certificate = await obtain(runtime, due, account, means).catch(async (err: unknown) => {
    log.warn({ err, host: due.host }, 'no certificate')
    await save(runtime, due, {
      certificateFailures: due.certificateFailures + 1,
      certificateFault: faultOf(err, due.host),
      certificateDueAt: new Date(clock.now() + retryAfterFailures(due.certificateFailures)),
    })
  })
  if (certificate) await save(runtime, due, certificate)
  const freeAt = new Date(clock.now() + ORDER_EVERY_MS)
  await db.update(acmeAccounts).set({ freeAt }).where(eq(acmeAccounts.directory, account.directory))
  return 1
}

export const retryAfterFailures = (before: number) =>
  Math.min(FIRST_RETRY_MS * 2 ** Math.min(before, 20), LAST_RETRY_MS)

/** When two thirds of its lifetime have passed. */
function renewalOf(pem: string): Date {
  const { validFromDate, validToDate } = new X509Certificate(pem)
  return new Date(validToDate.getTime() - (validToDate.getTime() - validFromDate.getTime()) / 3)
}

/** Another authority than before issues all certificates again. */
async function openAccount({ db, clock, config, vault }: OrderRuntime): Promise<Account> {
  const directory = config.acmeDirectory!
  const find = async () =>
    (await db.select().from(acmeAccounts).where(eq(acmeAccounts.directory, directory)))[0]
  const found = await find()
  if (found) return found
  await db.transaction(async (tx) => {
    const seal = await sealsForColumns(tx, vault)
    const sealed = seal(toPem(createKeyPair().privateKey), accountKeyPlace(directory))
    const created = { directory, sealed, freeAt: new Date(clock.now()) }
    await tx.delete(acmeAccounts).where(ne(acmeAccounts.directory, directory))
    const inserted = await tx.insert(acmeAccounts).values(created).onConflictDoNothing().returning()
    if (inserted.length > 0)
      await tx.update(linkHosts).set({ certificateDueAt: null, certificateFailures: 0 })
  })
  return (await find())!
}

async function begin({ db, clock }: OrderRuntime, { directory }: Account): Promise<boolean> {
  const begun = await db
    .update(acmeAccounts)
    .set({ freeAt: new Date(clock.now() + ORDER_LAPSES_MS) })
    .where(and(eq(acmeAccounts.directory, directory), lte(acmeAccounts.freeAt, new Date(clock.now()))))
    .returning()
  return begun.length > 0
}

async function obtain(
  runtime: OrderRuntime,
  due: Due,
  { directory, sealed }: Account,
  { order = orderCertificate, wait = pause }: Means,
) {
  const { db, vault, log } = runtime
  await takeFromLimit(runtime, `certificates:${due.workspaceId}`, ORDERS)
  const signal = AbortSignal.timeout(ORDER_TIMEOUT_MS)
  const pair = createKeyPair()
  const certificate = await order({
    directory,
    accountKey: createPrivateKey(vault.open(sealed, accountKeyPlace(directory))),
    host: due.host,
    signingRequest: signingRequest(due.host, pair),
    signal,
    async present(digest) {
      await db
        .update(linkHosts)
        .set({ challenge: digest.toString('hex') })
        .where(isStill(due))
      await wait(HOSTS_KEPT_MS + seconds(1), signal)
    },
  })
  invariant(
    new X509Certificate(certificate).checkPrivateKey(pair.privateKey),
    'the certificate is for its key',
  )
  log.info({ host: due.host }, 'got a certificate')
  const certificateDueAt = renewalOf(certificate)
  const key = toPem(pair.privateKey)
  return { certificate, key, certificateDueAt, certificateFailures: 0, certificateFault: null }
}

/** The host may have been changed or removed meanwhile. */
const isStill = ({ workspaceId, host }: Due) =>
  and(eq(linkHosts.workspaceId, workspaceId), eq(linkHosts.host, host))

type Outcome = Partial<typeof linkHosts.$inferInsert> & { key?: string }

async function save({ db, vault }: OrderRuntime, due: Due, { key, ...outcome }: Outcome): Promise<void> {
  await db.transaction(async (tx) => {
    const seal = await sealsForColumns(tx, vault)
    const sealed = key && { certificateKey: seal(key, certificateKeyPlace(due.workspaceId)) }
    await tx
      .update(linkHosts)
      .set({ ...outcome, ...sealed, challenge: null })
      .where(isStill(due))
  })
}

/** What it means that the authority did not find the answer to its challenge (RFC 8555, 6.7). */
const NOT_FOUND = new Set(['connection', 'unauthorized', 'incorrectResponse', 'tls'])

/** In words for the workspace's admins. */
function faultOf(error: unknown, host: string): string {
  if (isSluiceError(error) && error.code === 'rate_limited')
    return 'This workspace has ordered several certificates within a short time.'
  if (!(error instanceof AcmeError))
    return 'The certificate authority did not respond, or something is wrong with this server. Its log says more.'
  const what = NOT_FOUND.has(error.type)
    ? `The address of ${host} does not lead to this server on port 443. The certificate authority`
    : `The certificate authority refuses ${host}, and`
  return `${what} says: “${printable(error.message, 300)}”`
}

/** Undefined if the host has none yet. */
export async function readHostCertificate(
  { db, vault }: Pick<Runtime, 'db' | 'vault'>,
  host: string,
): Promise<{ cert: string; key: string } | undefined> {
  const [row] = await db
    .select()
    .from(linkHosts)
    .where(and(eq(linkHosts.host, host), isNotNull(linkHosts.verifiedAt)))
  if (!row?.certificate || !row.certificateKey) return undefined
  return { cert: row.certificate, key: vault.open(row.certificateKey, certificateKeyPlace(row.workspaceId)) }
}
