import { totalmem } from 'node:os'
import { resolve } from 'node:path'
import { z } from 'zod'
import { StartError } from './kernel/errors.ts'
import { type LocalSecrets, readLocalSecrets } from './local-secrets.ts'

/**
 * The only place that reads the environment. All faults are reported together, each with the setting's name
 * and what is right. `.env.example` is written from `settings` and held equal to it by a test.
 */
export const ROLES = ['web', 'upload', 'worker'] as const
export type Role = (typeof ROLES)[number]

type Setting = { description: string; example: string; schema: z.ZodType }

const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional())

const url = (protocols: string[], what: string) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    message: `must be ${what}`,
  })

const origin = url(['http:', 'https:'], 'an http or https address').transform((text) =>
  text.replace(/\/+$/, ''),
)

const wholeNumber = (min: number, max: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.number().min(min).max(max))

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
)

const encryptionKeys = list
  .refine((keys) => keys.length > 0 && keys.every((key) => decodeKey(key).length === 32), {
    message: 'must be 32 bytes in base64, or several of them with commas between: `openssl rand -base64 32`',
  })
  .transform((keys) => keys.map(decodeKey))

function decodeKey(text: string): Buffer {
  return Buffer.from(text, 'base64')
}

const roles = list.pipe(
  z
    .array(z.enum(ROLES, { message: `must be some of ${ROLES.join(', ')}, with commas between` }))
    .min(1, 'must name at least one role'),
)

const flag = z.enum(['0', '1'], { message: 'must be 0 or 1' }).transform((text) => text === '1')
const secret = z.string().min(32, 'must have at least 32 characters: `openssl rand -base64 32`')
const text = z.string().min(1)

export const settings = {
  DATABASE_URL: {
    description: 'PostgreSQL 13 or newer. Without it Sluice keeps an embedded database in DATA_DIR/db.',
    example: 'postgres://sluice:secret@localhost:5432/sluice',
    schema: url(['postgres:', 'postgresql:'], 'an address such as postgres://user:password@host:5432/name'),
  },
  DATA_DIR: { description: 'Folder of the embedded parts.', example: '.data', schema: text },
  PORT: {
    description: 'Port to listen on; 0 takes a free one.',
    example: '3000',
    schema: wholeNumber(0, 65_535),
  },
  HOST: {
    description: 'Address to listen on: 127.0.0.1 with the embedded database, else 0.0.0.0.',
    example: '127.0.0.1',
    schema: text,
  },
  BASE_URL: {
    description: 'Where people and backends reach the dashboard and the API.',
    example: 'http://localhost:3000',
    schema: origin,
  },
  UPLOAD_URL: {
    description: 'Where uploads go, if not to BASE_URL.',
    example: 'http://localhost:3000',
    schema: origin,
  },
  ROLES: {
    description: 'What this process does. Split it to scale each role by itself.',
    example: 'web,upload,worker',
    schema: roles,
  },
  UPLOAD_MEMORY_BYTES: {
    description: 'Memory for uploads in flight. Default: a quarter of what the process may use.',
    example: '1073741824',
    schema: wholeNumber(64 * 1024 * 1024, 2 ** 46),
  },
  TRUSTED_PROXIES: {
    description: 'Addresses or networks whose X-Forwarded-* headers are believed.',
    example: '10.0.0.0/8,192.168.1.7',
    schema: list,
  },
  SMTP_URL: {
    description: 'Mail server. Without it mails are kept as files in DATA_DIR/mail.',
    example: 'smtps://user:password@mail.example.com',
    schema: url(['smtp:', 'smtps:'], 'an address such as smtps://user:password@host'),
  },
  MAIL_FROM: { description: 'Sender of the mails.', example: 'Sluice <sluice@example.com>', schema: text },
  ENCRYPTION_KEY: {
    description:
      'Encrypts bucket credentials and webhook secrets. Several keys with commas: the first encrypts, all decrypt.',
    example: '',
    schema: encryptionKeys,
  },
  AUTH_SECRET: { description: 'Signs the sessions of the dashboard.', example: '', schema: secret },
  METRICS_TOKEN: {
    description: 'Bearer token of GET /metrics; without it there are no metrics.',
    example: '',
    schema: z.string().min(16, 'must have at least 16 characters'),
  },
  DEMO: { description: '1 makes the demo workspace.', example: '1', schema: flag },
  SIGN_UP: {
    description: 'open, or closed: then `npm run account` makes accounts.',
    example: 'open',
    schema: z.enum(['open', 'closed'], { message: 'must be open or closed' }),
  },
  FREE_TIER_BYTES: {
    description: 'Transfer per workspace and month; 0 is unlimited.',
    example: '10000000000',
    schema: wholeNumber(0, 2 ** 52),
  },
  ALLOWED_PRIVATE_HOSTS: {
    description:
      'Private or plain http hosts that buckets and webhooks may use, as host:port; * for all loopback and private ones.',
    example: 'minio.internal:9000',
    schema: list,
  },
  LOG_LEVEL: {
    description: 'How much is logged.',
    example: 'info',
    schema: z.enum(['debug', 'info', 'warn', 'error', 'silent'], {
      message: 'must be debug, info, warn, error or silent',
    }),
  },
  GITHUB_CLIENT_ID: { description: 'Sign in with GitHub.', example: '', schema: text },
  GITHUB_CLIENT_SECRET: { description: 'Sign in with GitHub.', example: '', schema: text },
  GOOGLE_CLIENT_ID: { description: 'Sign in with Google.', example: '', schema: text },
  GOOGLE_CLIENT_SECRET: { description: 'Sign in with Google.', example: '', schema: text },
} satisfies Record<string, Setting>

type Parsed = { [Name in keyof typeof settings]?: z.output<(typeof settings)[Name]['schema']> }
type Provider = { clientId: string; clientSecret: string }

export type Config = {
  databaseUrl: string | undefined
  dataDir: string
  port: number
  host: string
  baseUrl: string
  uploadUrl: string
  roles: ReadonlySet<Role>
  uploadMemoryBytes: number
  trustedProxies: string[]
  smtpUrl: string | undefined
  mailFrom: string
  encryptionKeys: Buffer[]
  authSecret: string
  metricsToken: string | undefined
  demo: boolean
  signUp: 'open' | 'closed'
  freeTierBytes: number
  allowedPrivateHosts: string[]
  logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  github: Provider | undefined
  google: Provider | undefined
}

type Environment = Record<string, string | undefined>

/** Reads the environment, and the secrets that the embedded default generates once into DATA_DIR. */
export function loadConfig(env: Environment = process.env): Config {
  const { parsed, faults } = parse(env)
  const all = [...faults, ...contradictions(env, parsed, faults.length > 0)]
  if (all.length > 0) {
    throw new StartError(
      `Sluice cannot start with these settings:\n${all.map((fault) => `  - ${fault}`).join('\n')}`,
    )
  }
  const dataDir = resolve(parsed.DATA_DIR ?? '.data')
  return assemble(parsed, dataDir, parsed.DATABASE_URL ? undefined : readLocalSecrets(dataDir))
}

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
    faults.push(
      `HOST is ${env.HOST}, which others can reach, but there is no DATABASE_URL. The embedded default is for this machine alone: set DATABASE_URL, or HOST=127.0.0.1`,
    )
  }
  if (!embedded) {
    for (const name of ['ENCRYPTION_KEY', 'AUTH_SECRET'] as const) {
      if (!env[name])
        faults.push(`${name} is required with DATABASE_URL: \`openssl rand -base64 32\` makes one`)
    }
    if (!unreadable && !parsed.BASE_URL && parsed.PORT === 0) faults.push('BASE_URL is required with PORT=0')
  }
  for (const provider of ['GITHUB', 'GOOGLE'] as const) {
    if (!env[`${provider}_CLIENT_ID`] !== !env[`${provider}_CLIENT_SECRET`]) {
      faults.push(`${provider}_CLIENT_ID and ${provider}_CLIENT_SECRET go together: set both or neither`)
    }
  }
  return faults
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

function assemble(parsed: Parsed, dataDir: string, local: LocalSecrets | undefined): Config {
  const port = parsed.PORT ?? 3000
  const baseUrl = parsed.BASE_URL ?? `http://localhost:${port}`
  const embedded = local !== undefined
  return {
    databaseUrl: parsed.DATABASE_URL,
    dataDir,
    port,
    host: parsed.HOST ?? (embedded ? '127.0.0.1' : '0.0.0.0'),
    baseUrl,
    uploadUrl: parsed.UPLOAD_URL ?? baseUrl,
    roles: new Set(parsed.ROLES ?? ROLES),
    uploadMemoryBytes: parsed.UPLOAD_MEMORY_BYTES ?? Math.floor(usableMemory() / 4),
    trustedProxies: parsed.TRUSTED_PROXIES ?? [],
    smtpUrl: parsed.SMTP_URL,
    mailFrom: parsed.MAIL_FROM ?? `Sluice <sluice@${new URL(baseUrl).hostname}>`,
    encryptionKeys: parsed.ENCRYPTION_KEY ?? [decodeKey(local!.encryptionKey)],
    authSecret: parsed.AUTH_SECRET ?? local!.authSecret,
    metricsToken: parsed.METRICS_TOKEN ?? local?.metricsToken,
    demo: parsed.DEMO ?? embedded,
    signUp: parsed.SIGN_UP ?? 'open',
    freeTierBytes: parsed.FREE_TIER_BYTES ?? 10_000_000_000,
    allowedPrivateHosts: parsed.ALLOWED_PRIVATE_HOSTS ?? (embedded ? ['*'] : []),
    logLevel: parsed.LOG_LEVEL ?? 'info',
    github: provider(parsed.GITHUB_CLIENT_ID, parsed.GITHUB_CLIENT_SECRET),
    google: provider(parsed.GOOGLE_CLIENT_ID, parsed.GOOGLE_CLIENT_SECRET),
  }
}

function provider(clientId?: string, clientSecret?: string): Provider | undefined {
  return clientId && clientSecret ? { clientId, clientSecret } : undefined
}

/** The cgroup's limit where there is one, else the machine's memory. */
function usableMemory(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
