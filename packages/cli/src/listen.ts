import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EventKind, SluiceEvent } from '../../node/src/event-kinds.ts'
import { type Command, misused, readArguments, result, say } from './command.ts'
import { forward } from './forward.ts'
import { connect, keepSettings, readSettings, settingsFolder } from './settings.ts'

const usage = 'listen --forward-to <url> [--pipe <id>] [--events <kind,…>] [--from-now] [--json]'

/**
 * Forwards the workspace's events to an address on this machine. Nothing changes in Sluice: no webhook is created or
 * touched. Events are forwarded one at a time, and the position is stored, so that the next run continues there.
 */
export const listen: Command = {
  usage,
  about: 'Forward events to an address on this machine, as they happen',
  async run(args) {
    const { values } = readArguments(args, usage, {
      'forward-to': { type: 'string' },
      pipe: { type: 'string' },
      events: { type: 'string' },
      'from-now': { type: 'boolean' },
    })
    const { json, pipe: pipeId } = values
    const kinds = values.events?.split(',').map((kind) => kind.trim() as EventKind)
    const url = readUrl(values['forward-to'])
    const leaving = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leaving.abort())
    const place = openPlace(`${readSettings().baseUrl} ${pipeId ?? ''} ${url}`)
    const secret = listenSecret()
    const after = values['from-now'] ? undefined : place.read()
    say(`Signed with ${secret}, which stays the same. Use it as your program's webhook secret.`)
    const events = connect().events({
      signal: leaving.signal,
      ...(pipeId && { pipeId }),
      ...(kinds && { events: kinds }),
      ...(after && { after }),
      onPlace: place.write,
      onOpen: () => say(`Listening. Events go to ${url}`),
      onBreak: ({ message }) => say(`${message} Trying again.`),
      onGap: (until) => say(`Events before ${until} are no longer available.`),
    })
    for await (const event of events) {
      const done = await forward(event, { url, secret, signal: leaving.signal, onWait: say })
      if (!done) return
      const fileId = 'file_id' in event.data ? event.data.file_id : null
      const words = `${done.status}  ${aboutOf(event)}  ${done.durationMs} ms`
      const { status, attempts } = done
      result(json, { eventId: event.id, event: event.event, fileId, status, attempts }, words)
    }
  },
}

function aboutOf({ event, data }: SluiceEvent): string {
  if ('file_id' in data) return `${data.status}  ${data.filename}  ${data.file_id}`
  if ('batch_id' in data) return `${event}  ${data.batch}  ${data.transferred} of ${data.total} transferred`
  return 'name' in data ? `${event}  ${data.name}` : `${event}  ${data.month}  ${data.percent}%`
}

function readUrl(text: string | undefined): string {
  const given = text && /^\d+$/.test(text) ? `http://localhost:${text}/` : text
  const url = given ? parseUrl(given.includes('://') ? given : `http://${given}`) : undefined
  if (url && /^https?:$/.test(url.protocol)) return url.href
  throw misused(
    'Specify an address with --forward-to, for example --forward-to http://localhost:3001/api/webhook',
    usage,
  )
}

/** `URL.parse` was added in Node 22. */
function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

/** Every run prints this secret, which is safe because it is only used on this machine. */
export function listenSecret(): string {
  const kept = readSettings().listenSecret
  if (kept) return kept
  const made = `whsec_${randomBytes(32).toString('base64')}`
  keepSettings({ listenSecret: made })
  return made
}

/** Stores how far events have been forwarded to this address. */
function openPlace(of: string) {
  const name = createHash('sha256').update(of).digest('hex').slice(0, 16)
  const file = join(settingsFolder(), `listen-${name}`)
  return {
    read(): string | undefined {
      try {
        return readFileSync(file, 'utf8').trim() || undefined
      } catch {
        return undefined
      }
    },
    write(id: string): void {
      mkdirSync(settingsFolder(), { recursive: true, mode: 0o700 })
      // Also replaces a file that an older version left readable by others.
      writeFileSync(`${file}.${process.pid}`, id, { mode: 0o600 })
      renameSync(`${file}.${process.pid}`, file)
    },
  }
}
