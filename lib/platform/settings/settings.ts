import { z } from 'zod'
import { readUrl } from '../db/primary.ts'

/** Every setting: what it means, an example, and what is right. `.env.example` is written from this table. */
export const ROLES = ['web', 'upload', 'worker'] as const
export type Role = (typeof ROLES)[number]

type Setting = { description: string; example: string; schema: z.ZodType }

const url = (protocols: string[], what: string) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    message: `must be ${what}`,
  })

const databaseUrl = z.string().refine((text) => readUrl(text) !== undefined, {
  message:
    'must be an address such as postgres://user:password@host:5432/name, or with several hosts: host-1:5432,host-2:5432',
})

const origin = url(['http:', 'https:'], 'an http or https address').transform((text) =>
  text.replace(/\/+$/, ''),
)

/** Pages, the API and uploads are at fixed paths below it. */
const rootAddress = origin.refine((text) => new URL(text).pathname === '/' && !/[?#]/.test(text), {
  message: 'must be an address without a path, as https://sluice.example.com: Sluice needs a host of its own',
})

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`))

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
    'must be addresses or networks with commas between, as 10.0.0.0/8,192.168.1.7; names are not looked up',
})

const encryptionKeys = list
  .refine((keys) => keys.length > 0 && keys.every((key) => decodeKey(key).length === 32), {
    message: 'must be 32 bytes in base64, or several of them with commas between: `openssl rand -base64 32`',
  })
  .transform((keys) => keys.map(decodeKey))

export function decodeKey(text: string): Buffer {
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
    description:
      'PostgreSQL 13 or newer; of several hosts with commas between, the one that takes writes. Without it Sluice runs one of its own, with its data in DATA_DIR/db.',
    example: 'postgres://sluice:secret@localhost:5432/sluice',
    schema: databaseUrl,
  },
  DATABASE_DIRECT_URL: {
    description:
      'The same database without the pooler of DATABASE_URL, for notifications and the queue: up to three connections of each process. Needed where the pooler does not keep sessions.',
    example: 'postgres://sluice:secret@localhost:5432/sluice',
    schema: databaseUrl,
  },
  DATABASE_WAIT_SECONDS: {
    description: 'How long a start waits for the database.',
    example: '60',
    schema: wholeNumber(0, 86_400),
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
  SFTP_PORT: {
    description:
      'Port for uploads by SFTP, in the processes of the upload role. Without it there is no SFTP. 0 takes a free one. Set it for the web role as well, which shows people the commands.',
    example: '2222',
    schema: wholeNumber(0, 65_535),
  },
  BASE_URL: {
    description: 'Where people and backends reach the dashboard and the API.',
    example: 'http://localhost:3000',
    schema: rootAddress,
  },
  UPLOAD_URL: {
    description: 'Where uploads go, if not to BASE_URL.',
    example: 'http://localhost:3000',
    schema: rootAddress,
  },
  TLS_CERT_FILE: {
    description:
      'Certificate chain in PEM, with TLS_KEY_FILE: Sluice then speaks HTTPS on PORT itself. A renewed one is taken up within a minute.',
    example: '/etc/letsencrypt/live/sluice.example.com/fullchain.pem',
    schema: text,
  },
  TLS_KEY_FILE: {
    description: 'The key of that certificate, in PEM, without a passphrase.',
    example: '/etc/letsencrypt/live/sluice.example.com/privkey.pem',
    schema: text,
  },
  ROLES: {
    description: 'What this process does. Split it to scale each role by itself.',
    example: 'web,upload,worker',
    schema: roles,
  },
  PROCESSES: {
    description:
      'Processes that carry uploads, all behind PORT, beside one for pages and one for the work of a worker. auto: one for each processor, up to 8.',
    example: '1',
    schema: processes,
  },
  UPLOAD_MEMORY_BYTES: {
    description:
      'Memory for uploads in flight, which PROCESSES divide. Default: a quarter of the container, or of the machine by its processors.',
    example: '1073741824',
    schema: wholeNumber(64 * 1024 * 1024, 2 ** 46),
  },
  UPLOAD_TAIL_BYTES: {
    description:
      'Bytes of unfinished uploads that the database may hold for all workspaces together, until they fill a part. Past half of it each has a fair share. One workspace may have 4 GiB.',
    example: '17179869184',
    schema: wholeNumber(64 * 1024 * 1024, 2 ** 46),
  },
  TRUSTED_PROXIES: {
    description:
      'Addresses or networks whose X-Forwarded-*, X-Request-Id and traceparent headers are believed.',
    example: '10.0.0.0/8,192.168.1.7',
    schema: networks,
  },
  INTERIM_RESPONSES: {
    description:
      '1 sends 104 (Upload Resumption Supported), 0 does not. Default: 1 without TRUSTED_PROXIES, as nginx breaks such uploads over HTTP/2. HAProxy passes it on.',
    example: '1',
    schema: flag,
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
  OPERATORS: {
    description:
      'Email addresses of accounts, verified ones, that get the console at /operator: workspaces, limits, suspension, nodes.',
    example: 'ops@example.com',
    schema: list,
  },
  FREE_TIER_BYTES: {
    description: 'Transfer per workspace and month; 0 is unlimited.',
    example: '10000000000',
    schema: wholeNumber(0, 2 ** 52),
  },
  IMPORTS_PER_WORKSPACE: {
    description: 'How many files of a workspace are imported from URLs at once, on all nodes together.',
    example: '8',
    schema: wholeNumber(1, 1000),
  },
  IMPORT_BYTES_PER_SECOND: {
    description: 'How fast the imports of a workspace may be, all together; 0 is unlimited.',
    example: '0',
    schema: wholeNumber(0, 2 ** 46),
  },
  ALLOWED_PRIVATE_HOSTS: {
    description:
      'Private or plain http hosts that buckets, webhooks and imports may use, as host:port; * for all loopback and private ones, which is the default only where HOST, BASE_URL and UPLOAD_URL are all this machine, without TRUSTED_PROXIES or DATABASE_URL.',
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
  ACCESS_LOG: {
    description: 'A line of the log for each request: off, errors (answered by 400 and above), or all.',
    example: 'errors',
    schema: z.enum(['off', 'errors', 'all'], { message: 'must be off, errors or all' }),
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    description:
      'Collector that traces are sent to, by OTLP over HTTP (protobuf). Without it none are made, and OpenTelemetry is not loaded.',
    example: 'http://collector:4318',
    schema: url(['http:', 'https:'], 'an http or https address'),
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    description: 'Headers for the collector, as key=value with commas between.',
    example: '',
    schema: text,
  },
  OTEL_SERVICE_NAME: { description: 'What traces call this process.', example: 'sluice', schema: text },
  OTEL_TRACES_SAMPLER_ARG: {
    description: 'Share of traces that are kept, from 0 to 1, where the traceparent of a proxy does not say.',
    example: '0.1',
    schema: share,
  },
  GITHUB_CLIENT_ID: { description: 'Sign in with GitHub.', example: '', schema: text },
  GITHUB_CLIENT_SECRET: { description: 'Sign in with GitHub.', example: '', schema: text },
  GOOGLE_CLIENT_ID: { description: 'Sign in with Google.', example: '', schema: text },
  GOOGLE_CLIENT_SECRET: { description: 'Sign in with Google.', example: '', schema: text },
  OIDC_ISSUER: {
    description:
      'Sign in with any OpenID Connect provider, such as Keycloak, Okta or Entra ID: its issuer address, exactly as the provider states it. Register BASE_URL/api/auth/callback/oidc there as the redirect URI.',
    example: 'https://login.example.com/realms/main',
    schema: url(['http:', 'https:'], 'the https address of the provider'),
  },
  OIDC_CLIENT_ID: { description: 'Client id at that provider.', example: '', schema: text },
  OIDC_CLIENT_SECRET: { description: 'Client secret at that provider.', example: '', schema: text },
  OIDC_NAME: {
    description: 'What the sign-in button calls that provider.',
    example: 'Single sign-on',
    schema: z.string().trim().min(1).max(40, 'must have at most 40 characters'),
  },
} satisfies Record<string, Setting>
