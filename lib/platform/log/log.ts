import { stdout } from 'node:process'
import pino from 'pino'
import { requestDetail } from '../kernel/request-context.ts'
import { openOutput } from './output.ts'
import { readableLine, shownJson } from './terminal.ts'

/**
 * Structured logs: one JSON object per line, or readable lines if they go to a terminal. Secrets must never be passed to
 * a log call; the paths below are a second line of defense, for objects that contain headers or credentials.
 */
export type Logger = pino.Logger

const SECRET_FIELDS = [
  'authorization',
  'Authorization',
  'cookie',
  'Cookie',
  '["set-cookie"]',
  '["x-service-signature"]',
  '["webhook-signature"]',
  'password',
  'secret',
  'token',
  'secretAccessKey',
  'serviceAccountKey',
  'storageAccountKey',
  'sasToken',
  'privateKey',
  'encryptionKey',
  'authSecret',
  'metricsToken',
  'senderToken',
  'accountKey',
  'webhookSecret',
]
const at = (prefix: string) =>
  SECRET_FIELDS.map((field) => (field.startsWith('[') ? prefix + field : `${prefix}.${field}`))

/** Secrets, signatures and passwords that slipped into a message, a stack trace or an address. */
const SECRET_TEXT =
  /\b(?:sk|tmp|ak)_[0-9A-Za-z]{20,}|whsec_[0-9A-Za-z+/=]{20,}|(?<=[?&]sig=)[0-9A-Za-z%+/=]{20,}|(?<=:\/\/[^\s:/@]*:)[^\s@/]+(?=@)/g

export function createLogger(
  level: string,
  {
    write,
    explains,
    process,
    isTerminal = !write && stdout.isTTY,
  }: {
    write?: (line: string) => void
    explains?: Explains
    process?: string | undefined
    isTerminal?: boolean
  } = {},
): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service: 'sluice', ...(process && { process }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: [...SECRET_FIELDS, ...at('*'), ...at('*.*')], censor: '[redacted]' },
    // Every line written for a request contains its id.
    mixin: requestDetail,
    serializers: { err: serializeError, error: serializeError },
    hooks: {
      streamWrite: (line) => {
        const safe = shownJson(line.replace(SECRET_TEXT, '[redacted]'))
        return isTerminal ? readableLine(safe) : safe
      },
      ...(explains && { logMethod: leaveOut(explains) }),
    },
  }
  const tellLost = (lines: number) => log.error({ lines }, 'log lines were lost: they could not be written')
  const log: Logger = pino(options, write ? { write } : openOutput(tellLost))
  return log
}

/** Resolves to true if the cause of this error is logged separately. Undefined for errors that are always logged. */
type Explains = (error: unknown) => Promise<boolean> | undefined
type LogMethod = NonNullable<NonNullable<pino.LoggerOptions['hooks']>['logMethod']>

/**
 * An outage causes hundreds of requests and sweeps to fail. If the outage is already logged, these failures are not.
 */
function leaveOut(explains: Explains): LogMethod {
  return function (args, method) {
    const [said] = args as unknown[]
    const told = explains((said as { err?: unknown } | undefined)?.err)
    if (!told) return method.apply(this, args)
    void told.then((isTold) => isTold || method.apply(this, args))
  }
}

function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code, status, digest } = error as Error & { code?: string; status?: number; digest?: string }
  const cause = error.cause === undefined ? undefined : serializeError(error.cause)
  const [message, stack] = [withoutQuery(error.message), withoutQuery(error.stack ?? '')]
  return { type: error.name, message, code, status, digest, stack, cause }
}

/**
 * Drizzle includes a failed query and all its parameters in the message: sealed and hashed secrets, and file bytes.
 * The error's cause says what went wrong, and its stack trace where.
 */
export function withoutQuery(text: string): string {
  return text.replace(/Failed query: [\s\S]*?(?=\n {4}at |$(?![\s\S]))/, 'Failed query [left out]')
}
