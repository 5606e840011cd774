import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { type FileProtocol, SENDER_SOURCES, type SenderSource } from '#drizzle/schema/index.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'

/**
 * The Pipes and ways in that a Sender may use. A limit of its own replaces that of its group, and without either it may
 * use everything. A Pipe that it may not use looks to it like one that does not exist.
 */

const listOf = <Item extends z.ZodType>(item: Item, most: number) =>
  z
    .array(item)
    .min(1, 'must not be empty: use null for no limit')
    .max(most, `must have at most ${most} entries`)
    .nullable()

export const limitsInput = z.strictObject({
  /** The only Pipes that may be used. Null for all of them. */
  pipeIds: listOf(z.string().max(100, 'must be the id of a Pipe'), 100),
  /** The only ways in: `http` includes imports from URLs, and `ftp` includes FTPS. Null for all of them. */
  sources: listOf(z.enum(SENDER_SOURCES), SENDER_SOURCES.length),
  /** After how many hours without a sign, an alert is raised. Null for never. */
  silentHours: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(8760, 'must be at most 8760, a year')
    .nullable(),
})
export type Limits = z.output<typeof limitsInput>

/** For a row `s` of `senders`; the conditions and the column below need it. */
export const WITH_GROUP = sql`left join sender_groups g on g.id = s.group_id`

export const mayUsePipe = (pipeId: SQL): SQL =>
  sql`coalesce(${pipeId} = any(coalesce(s.pipe_ids, g.pipe_ids)), true)`

export const mayUseSource = (source: SenderSource): SQL =>
  sql`coalesce(${source} = any(coalesce(s.sources, g.sources)), true)`

export const ALLOWED_SOURCES = sql`coalesce(s.sources, g.sources)`

/** Whether a Sender has been silent for longer than it or its group allows. */
export function isSilent(nowMs: number): SQL {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  return sql`coalesce(s.revoked_at is null and coalesce(greatest(s.last_used_at, s.last_file_at), s.created_at)
    <= ${now} - coalesce(s.silent_hours, g.silent_hours) * interval '1 hour', false)`
}

const SOURCES: Record<FileProtocol, SenderSource> = {
  tus: 'http',
  'resumable-http': 'http',
  http: 'http',
  url: 'http',
  sftp: 'sftp',
  ftps: 'ftp',
  ftp: 'ftp',
}

/** `sources` is null if all of them are allowed. */
export function assertMayUse(sources: readonly SenderSource[] | null, protocol: FileProtocol): void {
  if (sources === null || sources.includes(SOURCES[protocol])) return
  const names = sources.map((source) => source.toUpperCase()).join(' and ')
  throw new SluiceError('forbidden', `This Sender may only use ${names}. Its owner can change that.`)
}
