import pino from 'pino'
import { requestDetail } from '../kernel/request-context.ts'

/**
 * Structured logs, one JSON object a line. Secrets do not belong in a log call; the paths below are the second
 * line of defence, for objects that carry headers or credentials along.
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
  'encryptionKey',
  'authSecret',
  'metricsToken',
  'senderToken',
  'accountKey',
  'webhookSecret',
]
const at = (prefix: string) =>
  SECRET_FIELDS.map((field) => (field.startsWith('[') ? prefix + field : `${prefix}.${field}`))

/** A secret of ours that slipped into a message, a stack or an address. */
const SECRET_TEXT =
  /\b(?:sk|tmp|ak)_[0-9A-Za-z]{20,}|whsec_[0-9A-Za-z+/=]{20,}|(?<=:\/\/[^\s:/@]*:)[^\s@/]+(?=@)/g

/**
 * Names that strangers chose are in logs too, and logs are read on terminals. JSON escapes what is below a space; some terminals
 * obey those of C1 as well, and all turn the direction of text.
 */
const STEERING = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Also for what the scripts print. */
export function shownJson(json: string): string {
  return json.replace(STEERING, escapeOf)
}

const escapeOf = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

export function createLogger(
  level: string,
  {
    write,
    explains,
    process,
  }: { write?: (line: string) => void; explains?: Explains; process?: string | undefined } = {},
): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service: 'sluice', ...(process && { process }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: [...SECRET_FIELDS, ...at('*'), ...at('*.*')], censor: '[redacted]' },
    // Every line that is written for a request bears its id.
    mixin: requestDetail,
    serializers: { err: serializeError, error: serializeError },
    hooks: {
      streamWrite: (line) => shownJson(line.replace(SECRET_TEXT, '[redacted]')),
      ...(explains && { logMethod: leaveOut(explains) }),
    },
  }
  return write ? pino(options, { write }) : pino(options)
}

/** True if what failed with that error has a cause that is told in a line of its own. */
type Explains = (error: unknown) => Promise<boolean> | undefined
type LogMethod = NonNullable<NonNullable<pino.LoggerOptions['hooks']>['logMethod']>

/** An outage fails hundreds of requests and sweeps: where it is told already, they are not. */
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
 * Drizzle puts a failed query into the message, and every parameter: secrets sealed and hashed, bytes of files. What went wrong
 * is in the error's cause, and where in its stack.
 */
export function withoutQuery(text: string): string {
  return text.replace(/Failed query: [\s\S]*?(?=\n {4}at |$(?![\s\S]))/, 'Failed query [left out]')
}
