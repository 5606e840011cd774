import { z } from 'zod'
import { readUrl } from '../db/primary.ts'
import { flag, text, url, wholeNumber } from './fields.ts'
import { ftpSettings } from './ftp-settings.ts'
import { tlsSettings } from './tls-settings.ts'

/** Every setting: its meaning, an example, and its valid values. `.env.example` is generated from this table. */
export const ROLES = ['web', 'upload', 'worker'] as const
export type Role = (typeof ROLES)[number]

type Setting = { description: string; example: string; schema: z.ZodType }

const databaseUrl = z.string().refine((text) => readUrl(text) !== undefined, {
  message:
    'must be an address such as postgres://user:password@host:5432/name, or with several hosts: host-1:5432,host-2:5432',
})

const origin = url(['http:', 'https:'], 'an http or https address').transform((text) =>
  text.replace(/\/+$/, ''),
)

/** Pages, the API and uploads have fixed paths below this address. */
const rootAddress = origin.refine((text) => new URL(text).pathname === '/' && !/[?#]/.test(text), {
  message: 'must be an address without a path, such as https://sluice.example.com: Sluice needs its own host',
})

const processes = z.union([z.literal('auto'), wholeNumber(1, 16)], {
  message: 'must be a whole number from 1 to 16, or auto',
})

const share = z
  .string()
  .regex(/^(0|1|0?\.\d+|1\.0+)$/, 'must be a number from 0 to 1')
  .transform(Number)

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
)

const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])

const networks = list.refine((entries) => entries.every((entry) => network.safeParse(entry).success), {
  message:
    'must be addresses or networks separated by commas, such as 10.0.0.0/8,192.168.1.7; names are not resolved',
})

const encryptionKeys = list
  .refine((keys) => keys.length > 0 && keys.every((key) => decodeKey(key).length === 32), {
    message: 'must be 32 bytes in base64, or several keys separated by commas: `openssl rand -base64 32`',
  })
  .transform((keys) => keys.map(decodeKey))

export function decodeKey(text: string): Buffer {
  return Buffer.from(text, 'base64')
}

const roles = list.pipe(
  z
    .array(z.enum(ROLES, { message: `must be some of ${ROLES.join(', ')}, separated by commas` }))
    .min(1, 'must name at least one role'),
)

const secret = z.string().min(32, 'must have at least 32 characters: `openssl rand -base64 32`')

export const settings = {
  DATABASE_URL: {
    description:
      'Address of PostgreSQL 13 or newer. If it lists several hosts, separated by commas, the one that accepts writes is used. If this is not set, Sluice runs its own PostgreSQL with its data in DATA_DIR/db.',
    example: 'postgres://sluice:secret@localhost:5432/sluice',
    schema: databaseUrl,
  },
  DATABASE_DIRECT_URL: {
    description:
      'Address of the same database without the pooler in DATABASE_URL, for notifications and the queue: up to four connections per process. Needed if the pooler does not keep sessions.',
    example: 'postgres://sluice:secret@localhost:5432/sluice',
    schema: databaseUrl,
  },
  DATABASE_WAIT_SECONDS: {
    description: 'How many seconds to wait for the database at startup.',
    example: '60',
    schema: wholeNumber(0, 86_400),
  },
  DATA_DIR: {
    description: 'Folder for the embedded database and other local data.',
    example: '.data',
    schema: text,
  },
  PORT: {
    description: 'Port to listen on; 0 picks a free one.',
    example: '3000',
    schema: wholeNumber(0, 65_535),
  },
  HOST: {
    description: 'Address to listen on. Default: 127.0.0.1 with the embedded database, otherwise 0.0.0.0.',
    example: '127.0.0.1',
    schema: text,
  },
  SFTP_PORT: {
    description:
      'Port for SFTP uploads, in processes with the upload role. If this is not set, there is no SFTP. 0 picks a free port. Also set it for the web role, which shows people the SFTP commands to use.',
    example: '2222',
    schema: wholeNumber(0, 65_535),
  },
  ...ftpSettings,
  BASE_URL: {
    description: 'The URL of the dashboard and the API.',
    example: 'http://localhost:3000',
    schema: rootAddress,
  },
  UPLOAD_URL: {
    description: 'The URL of uploads, if it differs from BASE_URL.',
    example: 'http://localhost:3000',
    schema: rootAddress,
  },
  ...tlsSettings,
  ROLES: {
    description: 'The roles of this process. Split them among processes to scale each role separately.',
    example: 'web,upload,worker',
    schema: roles,
  },
  PROCESSES: {
    description:
      'The number of processes that handle uploads, all behind PORT, in addition to one for pages and one for background work. auto means one for each processor, up to 8.',
    example: '1',
    schema: processes,
  },
  UPLOAD_MEMORY_BYTES: {
    description:
      "Memory for uploads in flight, divided among PROCESSES. Default: a quarter of the container's memory; outside a container, a quarter of the machine's memory divided by its processors, for each process.",
    example: '1073741824',
    schema: wholeNumber(64 * 1024 * 1024, 2 ** 46),
  },
  UPLOAD_TAIL_BYTES: {
    description:
      'Maximum number of bytes that the database may store for unfinished uploads until they fill a part, for all workspaces together. Above half of this, each workspace is limited to a fair share. A workspace may have up to 4 GiB.',
    example: '17179869184',
    schema: wholeNumber(64 * 1024 * 1024, 2 ** 46),
  },
  TRUSTED_PROXIES: {
    description:
      'Addresses or networks whose X-Forwarded-*, X-Request-Id and traceparent headers are trusted.',
    example: '10.0.0.0/8,192.168.1.7',
    schema: networks,
  },
  INTERIM_RESPONSES: {
    description:
      '1 sends the interim response 104 (Upload Resumption Supported), 0 does not. Default: 0 with TRUSTED_PROXIES, because nginx breaks uploads with 104 over HTTP/2, otherwise 1. HAProxy forwards 104.',
    example: '1',
    schema: flag,
  },
  SMTP_URL: {
    description:
      'Address of the mail server. If this is not set, emails are stored as files in DATA_DIR/mail.',
    example: 'smtps://user:password@mail.example.com',
    schema: url(['smtp:', 'smtps:'], 'an address such as smtps://user:password@host'),
  },
  MAIL_FROM: {
    description: 'Sender address for emails.',
    example: 'Sluice <sluice@example.com>',
    schema: text,
  },
  ENCRYPTION_KEY: {
    description:
      'Encrypts bucket credentials and webhook secrets. There may be several keys, separated by commas: the first key encrypts, and all of them decrypt. Default with the embedded database: a random key in DATA_DIR/secrets.json.',
    example: '',
    schema: encryptionKeys,
  },
  AUTH_SECRET: {
    description:
      'Signs dashboard sessions. Default with the embedded database: a random secret in DATA_DIR/secrets.json.',
    example: '',
    schema: secret,
  },
  METRICS_TOKEN: {
    description:
      'Bearer token for GET /metrics. Default with the embedded database: a random token in DATA_DIR/secrets.json. Otherwise, without this setting, there are no metrics.',
    example: '',
    schema: z.string().min(16, 'must have at least 16 characters'),
  },
  DEMO: {
    description:
      '1 creates the demo workspace, 0 does not. Default: 1 with the embedded database, otherwise 0.',
    example: '1',
    schema: flag,
  },
  SIGN_UP: {
    description: 'open: anyone can sign up. closed: only `npm run admin -- account` creates accounts.',
    example: 'open',
    schema: z.enum(['open', 'closed'], { message: 'must be open or closed' }),
  },
  OPERATORS: {
    description:
      'Verified email addresses of the accounts that may use the console at /operator to manage workspaces, limits and suspensions, and to see nodes.',
    example: 'ops@example.com',
    schema: list,
  },
  FREE_TIER_BYTES: {
    description: 'Monthly transfer limit per workspace, in bytes; 0 means unlimited.',
    example: '10000000000',
    schema: wholeNumber(0, 2 ** 52),
  },
  PRICE_PER_GB: {
    description:
      'Price of a GB of transfer above FREE_TIER_BYTES, for the pricing page. Sluice itself charges nobody, and does not raise any limit.',
    example: '0.05 EUR',
    schema: z.string().regex(/^\d+(\.\d+)? [A-Z]{3}$/, 'must be an amount and a currency, such as 0.05 EUR'),
  },
  PRICING_TEXT: {
    description: 'Markdown that replaces what the pricing page says about the free tier and PRICE_PER_GB.',
    example: 'Included in your contract with Example Ltd.',
    schema: text,
  },
  IMPORTS_PER_WORKSPACE: {
    description: 'How many files a workspace can import from URLs at once, on all nodes together.',
    example: '8',
    schema: wholeNumber(1, 1000),
  },
  IMPORT_BYTES_PER_SECOND: {
    description: "Combined speed limit for a workspace's imports; 0 is unlimited.",
    example: '0',
    schema: wholeNumber(0, 2 ** 46),
  },
  ALLOWED_PRIVATE_HOSTS: {
    description:
      'Hosts on private networks or with plain http that buckets, webhooks and imports may use, as host:port. * allows all loopback and private hosts. That is the default only if HOST, BASE_URL and UPLOAD_URL all refer to this machine, and neither TRUSTED_PROXIES nor DATABASE_URL is set.',
    example: 'minio.internal:9000',
    schema: list,
  },
  ASSUME_ROLES: {
    description:
      "1 lets Data Stores use roles at AWS that trust this server's own identity there: environment variables, a web identity token file, or the metadata of its container or instance. Each role must require the external ID that its Data Store shows.",
    example: '0',
    schema: flag,
  },
  LOG_LEVEL: {
    description: 'Log level.',
    example: 'info',
    schema: z.enum(['debug', 'info', 'warn', 'error', 'silent'], {
      message: 'must be debug, info, warn, error or silent',
    }),
  },
  ACCESS_LOG: {
    description: 'Request logging: off, errors (status 400 and above), or all.',
    example: 'errors',
    schema: z.enum(['off', 'errors', 'all'], { message: 'must be off, errors or all' }),
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    description:
      'Address of the collector for traces, which must accept OTLP over HTTP (protobuf). If this is not set, no traces are created, and OpenTelemetry is not loaded.',
    example: 'http://collector:4318',
    schema: url(['http:', 'https:'], 'an http or https address'),
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    description: 'Headers for the collector, as key=value pairs separated by commas.',
    example: '',
    schema: text,
  },
  OTEL_SERVICE_NAME: { description: 'The name of this process in traces.', example: 'sluice', schema: text },
  OTEL_TRACES_SAMPLER_ARG: {
    description: "Share of traces to keep, from 0 to 1, unless a proxy's traceparent decides.",
    example: '0.1',
    schema: share,
  },
  GITHUB_CLIENT_ID: { description: 'Client id for sign-in with GitHub.', example: '', schema: text },
  GITHUB_CLIENT_SECRET: { description: 'Client secret for sign-in with GitHub.', example: '', schema: text },
  GOOGLE_CLIENT_ID: { description: 'Client id for sign-in with Google.', example: '', schema: text },
  GOOGLE_CLIENT_SECRET: { description: 'Client secret for sign-in with Google.', example: '', schema: text },
  OIDC_ISSUER: {
    description:
      'Issuer address of an OpenID Connect provider for sign-in, such as Keycloak, Okta or Entra ID, exactly as the provider states it. Register BASE_URL/api/auth/callback/oidc there as the redirect URI.',
    example: 'https://login.example.com/realms/main',
    schema: url(['http:', 'https:'], 'the https address of the provider'),
  },
  OIDC_CLIENT_ID: { description: 'The client id from that provider.', example: '', schema: text },
  OIDC_CLIENT_SECRET: { description: 'The client secret from that provider.', example: '', schema: text },
  OIDC_NAME: {
    description: "The provider's name on the sign-in button.",
    example: 'Single sign-on',
    schema: z.string().trim().min(1).max(40, 'must have at most 40 characters'),
  },
} satisfies Record<string, Setting>
