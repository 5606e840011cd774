import { availableParallelism, totalmem } from 'node:os'
import { resolve } from 'node:path'
import { z } from 'zod'
import { type LocalSecrets, readLocalSecrets } from '../data-dir.ts'
import { seconds } from '../kernel/clock.ts'
import { StartError } from '../kernel/errors.ts'
import { explainFolder } from '../log/say-fault.ts'
import { type FtpConfig, faultsOfFtp, readFtp } from './ftp-settings.ts'
import { isForThisMachineAlone, isLoopback } from './reach.ts'
import { decodeKey, ROLES, type Role, settings } from './settings.ts'
import { type CertificateFiles, certificateFiles, faultsOfTls } from './tls-settings.ts'

/**
 * The only place that reads the environment. All errors are reported together, each with the setting's name and the
 * valid values.
 */
type Parsed = { [Name in keyof typeof settings]?: z.output<(typeof settings)[Name]['schema']> }
type Provider = { clientId: string; clientSecret: string }
export type OpenIdConnect = Provider & { issuer: string; name: string }

export type Config = {
  databaseUrl: string | undefined
  databaseDirectUrl: string | undefined
  dataDir: string
  port: number
  host: string
  /** Undefined if this process does not accept SFTP. */
  sftpPort: number | undefined
  /** Undefined if this process does not accept FTP. */
  ftp: FtpConfig | undefined
  baseUrl: string
  uploadUrl: string
  /** Set if this server serves TLS itself, without a load balancer. */
  tls: CertificateFiles | undefined
  /** Set if this server gets certificates for the host names of workspaces. */
  acmeDirectory: string | undefined
  roles: ReadonlySet<Role>
  /** The number of upload processes. If there are several, a supervisor runs them. */
  processes: number
  uploadMemoryBytes: number
  /** How many processes share UPLOAD_MEMORY_BYTES, each with `uploadMemoryBytes`. */
  uploadMemoryShares: number
  /** The maximum number of bytes of tails in the database, for all workspaces together. */
  uploadTailBytes: number
  databaseConnections: number
  databaseWaitMs: number
  trustedProxies: string[]
  /** True if everything between Sluice and its clients is known to forward 1xx responses. */
  interimResponses: boolean
  smtpUrl: string | undefined
  mailFrom: string
  encryptionKeys: Buffer[]
  authSecret: string
  metricsToken: string | undefined
  demo: boolean
  signUp: 'open' | 'closed'
  /** In lower case. */
  operators: ReadonlySet<string>
  freeTierBytes: number
  /** An amount and a currency, such as `0.05 EUR`. */
  pricePerGb: string | undefined
  pricingText: string | undefined
  /** How many imports a workspace may run at once, on all nodes together. */
  importsPerWorkspace: number
  /** The maximum combined rate of each workspace's imports; 0 means unlimited. */
  importBytesPerSecond: number
  allowedPrivateHosts: string[]
  /** Data Stores may use roles that trust this server's own identity at AWS. */
  assumeRoles: boolean
  logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  accessLog: 'off' | 'errors' | 'all'
  /** Set with OTEL_EXPORTER_OTLP_ENDPOINT; OpenTelemetry itself reads it and the other OTEL_ settings. */
  tracing: { keptShare: number } | undefined
  github: Provider | undefined
  google: Provider | undefined
  oidc: OpenIdConnect | undefined
}

type Environment = Record<string, string | undefined>

/** Reads the environment, and the secrets that are generated once in DATA_DIR if there is no DATABASE_URL. */
export function loadConfig(env: Environment = process.env): Config {
  const { parsed, faults } = parse(env)
  const all = [...faults, ...contradictions(env, parsed, faults.length > 0)]
  if (all.length > 0) {
    throw new StartError(
      `Sluice cannot start with these settings:\n${all.map((fault) => `  - ${fault}`).join('\n')}`,
    )
  }
  const dataDir = resolve(parsed.DATA_DIR ?? '.data')
  return assemble(parsed, dataDir, parsed.DATABASE_URL ? undefined : localSecrets(dataDir))
}

function localSecrets(dataDir: string): LocalSecrets {
  try {
    return readLocalSecrets(dataDir)
  } catch (error) {
    throw explainFolder(dataDir, error)
  }
}

/** An empty setting counts as unset. */
const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional())

function parse(env: Environment): { parsed: Parsed; faults: string[] } {
  const shape = Object.fromEntries(
    Object.entries(settings).map(([name, { schema }]) => [name, optional(schema)]),
  )
  const result = z.object(shape).safeParse(env)
  if (result.success) return { parsed: result.data as Parsed, faults: [] }
  return {
    parsed: {},
    faults: result.error.issues.map((issue) => `${String(issue.path[0])} ${issue.message}`),
  }
}

function contradictions(env: Environment, parsed: Parsed, unreadable: boolean): string[] {
  const faults: string[] = []
  const embedded = !env.DATABASE_URL
  if (embedded && env.HOST && !isLoopback(env.HOST)) {
    const missing = [...(env.DEMO === '0' ? [] : ['DEMO=0']), ...KEYS.filter((name) => !env[name])]
    if (missing.length > 0)
      faults.push(
        `HOST is ${env.HOST}, which others can reach: that also needs ${missing.join(', ')} (\`openssl rand -base64 32\` generates a key). Otherwise set HOST=127.0.0.1`,
      )
  }
  if (!embedded) {
    for (const name of KEYS) {
      if (!env[name])
        faults.push(`${name} is required with DATABASE_URL: \`openssl rand -base64 32\` generates one`)
    }
    if (!unreadable && !parsed.BASE_URL && parsed.PORT === 0) faults.push('BASE_URL is required with PORT=0')
  }
  faults.push(
    ...faultsOfProcesses(parsed),
    ...faultsOfTls(env),
    ...faultsOfFtp(env),
    ...faultsOfOpenIdConnect(env, parsed),
  )
  for (const provider of ['GITHUB', 'GOOGLE'] as const) {
    if (!env[`${provider}_CLIENT_ID`] !== !env[`${provider}_CLIENT_SECRET`]) {
      faults.push(`${provider}_CLIENT_ID and ${provider}_CLIENT_SECRET go together: set both or neither`)
    }
  }
  return faults
}

function faultsOfProcesses({ PROCESSES, UPLOAD_MEMORY_BYTES }: Parsed): string[] {
  if (!PROCESSES || PROCESSES === 'auto' || PROCESSES === 1) return []
  if (process.platform === 'win32') return ['PROCESSES must be 1 on Windows']
  const minBytes = PROCESSES * MIN_SHARE_BYTES
  if (!UPLOAD_MEMORY_BYTES || UPLOAD_MEMORY_BYTES >= minBytes) return []
  return [
    `UPLOAD_MEMORY_BYTES must be at least ${minBytes} with PROCESSES=${PROCESSES}: 64 MiB for each process`,
  ]
}

function faultsOfOpenIdConnect(env: Environment, { OIDC_ISSUER }: Parsed): string[] {
  const faults: string[] = []
  const missing = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'].filter((name) => !env[name])
  if (missing.length === 1 || missing.length === 2)
    faults.push(
      `OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET go together: also set ${missing.join(' and ')}`,
    )
  const plain = OIDC_ISSUER?.startsWith('http:') && !isLoopback(new URL(OIDC_ISSUER).hostname)
  if (plain) faults.push('OIDC_ISSUER must start with https://, unless the provider is on this machine')
  return faults
}

const KEYS = ['ENCRYPTION_KEY', 'AUTH_SECRET'] as const

function assemble(parsed: Parsed, dataDir: string, local: LocalSecrets | undefined): Config {
  const roles = new Set(parsed.ROLES ?? ROLES)
  const processes = roles.has('upload') ? countProcesses(parsed) : 1
  const uploadMemoryBytes =
    parsed.UPLOAD_MEMORY_BYTES ?? Math.max(uploadMemory(machine(), processes), processes * MIN_SHARE_BYTES)
  const embedded = local !== undefined
  const reach = reachOf(parsed, embedded)
  return {
    ...reach,
    databaseUrl: parsed.DATABASE_URL,
    databaseDirectUrl: parsed.DATABASE_DIRECT_URL,
    dataDir,
    sftpPort: parsed.SFTP_PORT,
    ftp: readFtp(parsed),
    roles,
    processes,
    uploadMemoryBytes,
    uploadMemoryShares: 1,
    uploadTailBytes: parsed.UPLOAD_TAIL_BYTES ?? 16 * 1024 ** 3,
    databaseConnections: 20,
    databaseWaitMs: seconds(parsed.DATABASE_WAIT_SECONDS ?? 60),
    interimResponses: parsed.INTERIM_RESPONSES ?? reach.trustedProxies.length === 0,
    smtpUrl: parsed.SMTP_URL,
    mailFrom: parsed.MAIL_FROM ?? `Sluice <sluice@${new URL(reach.baseUrl).hostname}>`,
    encryptionKeys: parsed.ENCRYPTION_KEY ?? [decodeKey(local!.encryptionKey)],
    authSecret: parsed.AUTH_SECRET ?? local!.authSecret,
    metricsToken: parsed.METRICS_TOKEN ?? local?.metricsToken,
    demo: parsed.DEMO ?? embedded,
    signUp: parsed.SIGN_UP ?? 'open',
    operators: new Set((parsed.OPERATORS ?? []).map((email) => email.toLowerCase())),
    freeTierBytes: parsed.FREE_TIER_BYTES ?? 10_000_000_000,
    pricePerGb: parsed.PRICE_PER_GB,
    pricingText: parsed.PRICING_TEXT,
    importsPerWorkspace: parsed.IMPORTS_PER_WORKSPACE ?? 8,
    importBytesPerSecond: parsed.IMPORT_BYTES_PER_SECOND ?? 0,
    allowedPrivateHosts:
      parsed.ALLOWED_PRIVATE_HOSTS ?? (embedded && isForThisMachineAlone(reach) ? ['*'] : []),
    assumeRoles: parsed.ASSUME_ROLES ?? false,
    logLevel: parsed.LOG_LEVEL ?? 'info',
    accessLog: parsed.ACCESS_LOG ?? 'errors',
    tracing: parsed.OTEL_EXPORTER_OTLP_ENDPOINT
      ? { keptShare: parsed.OTEL_TRACES_SAMPLER_ARG ?? 1 }
      : undefined,
    github: provider(parsed.GITHUB_CLIENT_ID, parsed.GITHUB_CLIENT_SECRET),
    google: provider(parsed.GOOGLE_CLIENT_ID, parsed.GOOGLE_CLIENT_SECRET),
    oidc: openIdConnect(parsed),
  }
}

/** The server's addresses, and who can reach it. */
function reachOf(parsed: Parsed, embedded: boolean) {
  const port = parsed.PORT ?? 3000
  const tls = certificateFiles(parsed)
  const baseUrl = parsed.BASE_URL ?? `${tls ? 'https' : 'http'}://localhost:${port}`
  return {
    port,
    host: parsed.HOST ?? (embedded ? '127.0.0.1' : '0.0.0.0'),
    baseUrl,
    uploadUrl: parsed.UPLOAD_URL ?? baseUrl,
    tls,
    acmeDirectory: parsed.ACME_DIRECTORY,
    trustedProxies: parsed.TRUSTED_PROXIES ?? [],
  }
}

function provider(clientId?: string, clientSecret?: string): Provider | undefined {
  return clientId && clientSecret ? { clientId, clientSecret } : undefined
}

function openIdConnect(parsed: Parsed): OpenIdConnect | undefined {
  const client = provider(parsed.OIDC_CLIENT_ID, parsed.OIDC_CLIENT_SECRET)
  if (!client || !parsed.OIDC_ISSUER) return undefined
  return { ...client, issuer: parsed.OIDC_ISSUER, name: parsed.OIDC_NAME ?? 'Single sign-on' }
}

/** The minimum UPLOAD_MEMORY_BYTES for one process. */
const MIN_SHARE_BYTES = 64 * 1024 * 1024
const MAX_BY_THEMSELVES = 8

function countProcesses({ PROCESSES = 1, UPLOAD_MEMORY_BYTES = Infinity }: Parsed): number {
  if (PROCESSES !== 'auto') return PROCESSES
  if (process.platform === 'win32') return 1
  const fitting = Math.floor(UPLOAD_MEMORY_BYTES / MIN_SHARE_BYTES)
  return Math.min(availableParallelism(), MAX_BY_THEMSELVES, fitting)
}

type Machine = { totalBytes: number; limitBytes: number; processors: number }

function machine(): Machine {
  return {
    totalBytes: totalmem(),
    limitBytes: process.constrainedMemory(),
    processors: availableParallelism(),
  }
}

const MIN_UPLOAD_MEMORY_BYTES = 256 * 1024 * 1024

/**
 * In a container, a quarter of its memory, because nothing else runs there. Outside a container, there may be one
 * process per processor, so each process gets its processor's share of a quarter of the memory, but at least enough for
 * large files.
 */
export function uploadMemory({ totalBytes, limitBytes, processors }: Machine, processes = 1): number {
  if (limitBytes > 0 && limitBytes < totalBytes) return Math.floor(limitBytes / 4)
  const quarter = totalBytes / 4
  const shares = (quarter / processors) * processes
  return Math.floor(Math.min(quarter, Math.max(shares, MIN_UPLOAD_MEMORY_BYTES)))
}

/** next-auth only accepts its own address from the environment. */
export function setAuthUrl(baseUrl: string): void {
  process.env.NEXTAUTH_URL = baseUrl
}

/** The variable in which a supervisor passes a process its role. */
export const MEMBERSHIP_VARIABLE = 'SLUICE_MEMBERSHIP'

export function membershipGiven(env: Environment = process.env): string | undefined {
  return env[MEMBERSHIP_VARIABLE]
}
