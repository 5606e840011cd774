import { type Costs, estimateMs } from '../../lib/platform/db/upgrade/estimate.ts'
import { type Effect, type Rehearsed, waitingFor } from '../../lib/platform/db/upgrade/rehearse.ts'

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
