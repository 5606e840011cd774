import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { type Costs, estimateMs } from '../../lib/platform/db/upgrade/estimate.ts'
import { type Effect, type Rehearsed, waitingFor } from '../../lib/platform/db/upgrade/rehearse.ts'
import { settings } from '../../lib/platform/settings/settings.ts'

/**
 * Finds the lines of this version's balancer file that an operator's own file is missing. Operators fill in their
 * addresses and add their own lines. Uploads need the rest of the shipped file.
 */
const SHIPPED = { nginx: 'deploy/nginx.conf', haproxy: 'deploy/haproxy.cfg' }
/** Addresses and sizes, which differ for each operator. */
const OWN = {
  nginx: /^(?:server [^{]+;|server \{|listen |worker_|keepalive |access_log |upstream |zone |[{}])/,
  haproxy: /^(?:server |bind |log |fd-hard-limit |(?:global|defaults|frontend|backend)\b)/,
}

export type Compared = { shipped: string; missing: string[] }

export function compareBalancer(text: string, root: string): Compared {
  const kind = /^\s*(?:frontend|backend)\s/m.test(text) ? 'haproxy' : 'nginx'
  const has = new Set(directivesOf(text))
  const shipped = directivesOf(readFileSync(join(root, SHIPPED[kind]), 'utf8'))
  return {
    shipped: SHIPPED[kind],
    missing: [...new Set(shipped)].filter((line) => !OWN[kind].test(line) && !has.has(line)),
  }
}

function directivesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .filter((line) => line !== '' && !line.startsWith('#'))
}

/** Names in an `.env` file that this version does not read, each with the setting that was probably meant. */
export type Unread = { name: string; meant: string | undefined }

export function unreadSettings(text: string, known: readonly string[] = Object.keys(settings)): Unread[] {
  const given = Object.keys(parseEnv(text)).sort()
  return given.filter((name) => !known.includes(name)).map((name) => ({ name, meant: nearest(name, known) }))
}

/** The known name that shares the most words with this one. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const words = new Set(name.split('_'))
  const shared = known.map((other) => {
    const others = other.split('_')
    const common = others.filter((word) => words.has(word)).length
    return { other, share: common / (words.size + others.length - common) }
  })
  const best = shared.reduce((one, other) => (other.share > one.share ? other : one))
  return best.share >= 0.5 ? best.other : undefined
}

/** Clients notice when an upload pauses for longer than this. */
const LONG_MS = 2000
const WAITING = { nobody: 'nobody waits', writers: 'writers wait', everybody: 'readers and writers wait' }
const ROWS = {
  untouched: '',
  read: 'all rows are read',
  written: 'rows are changed',
  rewritten: 'the table is rewritten',
}

export type Told = { lines: string[]; isLong: boolean }

/** `costs` has an entry for each table. A migration keeps its locks until all of it is done. */
export function tellMigration({ name, effects }: Rehearsed, costs: ReadonlyMap<string, Costs>): Told {
  const takesMs = effects.reduce((sum, effect) => sum + estimateMs(effect, costs.get(effect.table)!), 0)
  const isLong = takesMs > LONG_MS && effects.some(({ lock }) => waitingFor(lock) !== 'nobody')
  const what = effects.map((effect) => `      ${tellEffect(effect, costs.get(effect.table)!)}`)
  const head = `${isLong ? '!' : ' '} ${name}: about ${sayMs(takesMs)}`
  return { lines: [head, ...(what.length > 0 ? what : ['      no existing table'])], isLong }
}

function tellEffect({ table, lock, rows, indexes }: Effect, { rows: count, bytes }: Costs): string {
  const size = `${Math.round(count).toLocaleString('en')} rows, ${(bytes / 1e6).toFixed(1)} MB`
  const built = indexes > 0 ? `${indexes} ${indexes === 1 ? 'index is' : 'indexes are'} built` : ''
  const locked = `${table} (${size}): ${lock}, ${WAITING[waitingFor(lock)]}`
  return [locked, ROWS[rows], built].filter(Boolean).join('; ')
}

function sayMs(ms: number): string {
  if (ms < 100) return 'a moment'
  return ms < 90_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`
}
