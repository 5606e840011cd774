import { type SQL, sql } from 'drizzle-orm'
import { SENDER_SOURCES, type SenderSource } from '#drizzle/schema/index.ts'
import { notOfDemo, workspaceSuspended } from '../../identity/suspension.ts'
import { rows } from '../../platform/db/database.ts'
import { invalidRequest, isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret, isPipeId, newSecret, uuidv7 } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { uploadUrlOf } from '../pipes/pipe.ts'
import { ALLOWED_SOURCES, mayUsePipe, WITH_GROUP } from '../senders/limits.ts'
import { addressOr, noteRefusal } from '../senders/note-sign-in.ts'
import { assertSenderToken } from '../senders/read-senders.ts'
import type { IssuedToken, TokenInput } from './token.ts'

/**
 * The token API: exchanges a Sender's `sk_` token for a short-lived `tmp_` one. It is called for every page view on
 * customers' sites, so it is a single statement that includes the rate limit. The limit is a token bucket in the
 * Sender's row, so all nodes share it: `where` only lets the update through if at least one token is left.
 */
/** The default rate limit; the operator can set a different one for a workspace. */
const RATE = { perSecond: 100, burst: 200 } as const
const BURST_SECONDS = RATE.burst / RATE.perSecond
/** Tokens are kept for a month after they expire, and a Sender may request millions a day. */
const MAX_STORED_BYTES = 8192

type Outcome = {
  sender_id: string | null
  revoked: boolean | null
  expired: boolean | null
  suspended: boolean | null
  /** Null if the rate limit refused the request. */
  counted: string | null
  available: number | null
  per_second: number | null
  pipe_id: string | null
  source_on: boolean | null
  source_allowed: boolean | null
  subject_lacks: boolean | null
  /** Object settings that the Pipe does not let tokens set. */
  not_settable: string[] | null
}

export async function issueToken(
  { db, clock, config }: Pick<Runtime, 'db' | 'clock' | 'config'>,
  senderToken: string,
  input: TokenInput,
  source: Source = 'any client',
): Promise<IssuedToken> {
  assertSenderToken(senderToken)
  assertSmall(input)
  const token = newSecret('tmp_')
  const now = clock.now()
  const expiresAt = new Date(now + input.expiresIn * 1000).toISOString()
  const row = { id: uuidv7(now), hash: hashSecret(token), expiresAt, now: new Date(now).toISOString() }
  const [outcome] = await rows<Outcome>(
    db,
    statement(hashSecret(senderToken), row, input, {
      isOpen: notOfDemo(config, sql`s.workspace_id`),
      source,
    }),
  )
  try {
    assertIssued(outcome, source)
  } catch (error) {
    if (outcome?.sender_id && isSluiceError(error) && error.code !== 'rate_limited')
      await noteRefusal({ db, clock }, sql`s.id = ${outcome.sender_id}::uuid`)
    throw error
  }
  return { token, expiresAt, pipeId: input.pipeId, uploadUrl: uploadUrlOf(config, input.pipeId) }
}

function assertSmall(input: TokenInput): void {
  const bytes = Buffer.byteLength(JSON.stringify(input))
  if (bytes <= MAX_STORED_BYTES) return
  const message = `The token would store ${bytes} bytes. It may store at most ${MAX_STORED_BYTES}: shorten its metadata, allowedTypes or object`
  throw invalidRequest([{ field: '', message }])
}

type NewRow = { id: string; hash: string; expiresAt: string; now: string }

const may = (source: SenderSource) => sql`${source} = any(sender.sources)`

/** How the token's files arrive. If that source of the Pipe is off, the request is refused. */
export type Source = keyof typeof SOURCES
export const SOURCES = {
  // The same tokens serve as SFTP and FTP passwords.
  'any client': {
    column: sql`(p.source_http or p.source_sftp or p.source_ftps or p.source_ftp)`,
    allowed: sql`(p.source_http and ${may('http')} or p.source_sftp and ${may('sftp')}
      or (p.source_ftps or p.source_ftp) and ${may('ftp')})`,
    name: 'HTTP (TUS)',
  },
  http: { column: sql`p.source_http`, allowed: may('http'), name: 'HTTP (TUS)' },
  url: { column: sql`p.source_url`, allowed: may('http'), name: 'URL' },
  ftps: { column: sql`p.source_ftps`, allowed: may('ftp'), name: 'FTPS' },
  ftp: { column: sql`p.source_ftp`, allowed: may('ftp'), name: 'FTP' },
}

function statement(
  senderHash: string,
  row: NewRow,
  input: TokenInput,
  { isOpen, source }: { isOpen: SQL; source: Source },
): SQL {
  const now = sql`${row.now}::timestamptz`
  const pipeId = sql`${isPipeId(input.pipeId) ? input.pipeId : ''}::text`
  const refilled = (
    perSecond: SQL,
  ) => sql`least(${perSecond} * ${BURST_SECONDS}, coalesce(s.rate_tokens, ${perSecond} * ${BURST_SECONDS})
    + ${perSecond} * greatest(0, extract(epoch from ${now} - coalesce(s.rate_updated_at, ${now})))::float8)`
  const limited = sql`coalesce(w.tokens_per_second, ${RATE.perSecond})::float8`
  const counted = refilled(sql`sender.per_second`)
  return sql`
    with sender as (
      select s.id, s.workspace_id, s.revoked_at is not null as revoked,
        s.token_hash <> ${senderHash} and s.previous_token_until <= ${now} as expired, ${limited} as per_second,
        ${refilled(limited)} as available, w.suspended_at is not null or w.delete_after is not null as suspended,
        ${mayUsePipe(pipeId)} as may_use_pipe, coalesce(${ALLOWED_SOURCES}, ${`{${SENDER_SOURCES}}`}::text[]) as sources
      from senders s ${WITH_GROUP} join workspaces w on w.id = s.workspace_id where (s.token_hash = ${senderHash} or s.previous_token_hash = ${senderHash}) and ${isOpen}
    ), counted as (
      update senders s set rate_tokens = ${counted} - 1, rate_updated_at = greatest(${now}, s.rate_updated_at),
        last_used_at = ${now}, last_address = ${addressOr(sql`s.last_address`)}, request_count = s.request_count + 1
      from sender where s.id = sender.id and not sender.revoked and not sender.expired
        and not sender.suspended and ${counted} >= 1
      returning s.id, s.workspace_id
    ), pipe as (
      select p.id, ${SOURCES[source].column} as source_on, ${SOURCES[source].allowed} as source_allowed, p.require_subject and ${input.subject === undefined} as subject_lacks, ${notSettable(input)} as not_settable, counted.workspace_id, counted.id as sender_id from pipes p
      join counted on counted.workspace_id = p.workspace_id join sender on sender.may_use_pipe
      where p.id = ${pipeId} and p.deleted_at is null
    ), made as (
      ${inserted(row, input)} from pipe where source_on and source_allowed and not subject_lacks and not_settable = '{}'
    )
    select sender.id as sender_id, sender.revoked, sender.expired, sender.suspended, sender.available,
      sender.per_second, counted.id as counted,
      pipe.id as pipe_id, pipe.source_on, pipe.source_allowed, pipe.subject_lacks, pipe.not_settable
    from sender left join counted on true left join pipe on true`
}

function notSettable({ object }: TokenInput): SQL {
  if (!object) return sql`'{}'::text[]`
  const names = sql`jsonb_array_elements_text(${JSON.stringify(Object.keys(object))}::jsonb)`
  return sql`array(select name from ${names} as names(name)
    where not coalesce(p.object->'tokensMaySet' @> to_jsonb(name), false))`
}

const inserted = (row: NewRow, input: TokenInput): SQL =>
  sql`insert into tokens (id, workspace_id, pipe_id, sender_id, token_hash, subject, max_bytes, max_files,
        allowed_types, key_prefix, metadata, object, batch, expires_at, created_at)
      select ${row.id}::uuid, workspace_id, id, sender_id, ${row.hash}, ${input.subject ?? null}::text,
        ${input.maxBytes ?? null}::bigint, ${input.maxFiles ?? null}::int,
        array(select jsonb_array_elements_text(${JSON.stringify(input.allowedTypes)}::jsonb)),
        ${input.keyPrefix}, ${JSON.stringify(input.metadata)}::jsonb, ${input.object ? JSON.stringify(input.object) : null}::jsonb, ${input.batch ?? null}::text, ${row.expiresAt}::timestamptz, ${row.now}::timestamptz`

function assertIssued(outcome: Outcome | undefined, source: Source): void {
  if (!outcome) throw new SluiceError('token_invalid', 'There is no Sender with this token.')
  if (outcome.revoked) throw new SluiceError('token_revoked', "This token's Sender was revoked.")
  if (outcome.expired) {
    throw new SluiceError(
      'token_revoked',
      'This Sender token was rotated and its overlap has ended. Use the new one.',
    )
  }
  if (outcome.suspended) throw workspaceSuspended()
  if (!outcome.counted) throw rateLimited(outcome.available ?? 0, outcome.per_second ?? RATE.perSecond)
  if (!outcome.pipe_id)
    throw new SluiceError('pipe_not_found', "There is no such Pipe in this Sender's workspace.")
  if (!outcome.source_on) {
    throw new SluiceError(
      'pipe_source_off',
      `The ${SOURCES[source].name} source of this Pipe is off. Switch it on under Connect, Sources.`,
      { status: 409 },
    )
  }
  if (!outcome.source_allowed)
    throw new SluiceError(
      'forbidden',
      'This Sender may not use the sources of this Pipe that are on. Change what it may use on its page.',
    )
  if (outcome.subject_lacks)
    throw invalidRequest([
      { field: 'subject', message: 'is required by this Pipe: your own id for the person who uploads' },
    ])
  if (outcome.not_settable?.length)
    throw invalidRequest(
      outcome.not_settable.map((name) => ({
        field: `object.${name}`,
        message: `cannot be set by this Pipe's tokens: its object.tokensMaySet does not include ${name}`,
      })),
    )
}

/**
 * draft-ietf-httpapi-ratelimit-headers: r is the number of remaining requests, t the seconds until there are more, q
 * the quota and w its window.
 */
function rateLimited(available: number, perSecond: number): SluiceError {
  const seconds = Math.max(1, Math.ceil((1 - available) / perSecond))
  return new SluiceError(
    'rate_limited',
    `A Sender may request ${perSecond} tokens per second, and ${perSecond * BURST_SECONDS} at once.`,
    {
      headers: {
        'Retry-After': String(seconds),
        RateLimit: `"sender";r=0;t=${seconds}`,
        'RateLimit-Policy': `"sender";q=${perSecond * BURST_SECONDS};w=${BURST_SECONDS}`,
      },
    },
  )
}
