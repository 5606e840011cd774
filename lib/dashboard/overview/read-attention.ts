import { and, desc, eq, sql } from 'drizzle-orm'
import { files } from '#drizzle/schema/index.ts'
import { listTurnedOff } from '../../identity/accounts/turned-off.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { rows } from '../../platform/db/database.ts'
import { days } from '../../platform/kernel/clock.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { explainAttempt } from '../../webhooks/log/delivery.ts'
import { ALERT_WORDS, listOpenAlerts } from '../../workspace/notices/alerts.ts'
import { explainFailure } from '../files/file.ts'
import { listed } from '../files/file-query.ts'
import { REASONS_IN_WORDS } from '../files/words.ts'
import { readMissingCopies } from './read-missing-copies.ts'

/** What only a person can settle, and the page where they can. */
export type Attention = {
  tone: 'bad' | 'warn' | 'decide'
  title: string
  text: string
  at?: Date
  href: string
  action: string
}

/** Counting stops at this number. */
const MOST = 1000
const CALM: readonly string[] = ['quota_80', 'token_unused']

/** For one Pipe, without what concerns the workspace or its Data Stores. */
export async function readAttention(
  runtime: CoreRuntime,
  actor: Actor,
  pipeId?: string,
): Promise<Attention[]> {
  const found = await Promise.all([
    listAlerts(runtime, actor, pipeId),
    pipeId ? [] : findTurnedOff(runtime, actor),
    listAwaiting(runtime, actor, pipeId),
    listFailingOutputs(runtime, actor, pipeId),
    pipeId ? [] : listMissingCopies(runtime, actor),
    listFailedUploads(runtime, actor, pipeId),
  ])
  return found.flat()
}

/** A Data Store that rejects uploads has a banner on every page that it concerns. */
async function listAlerts(runtime: CoreRuntime, actor: Actor, pipeId?: string): Promise<Attention[]> {
  const open = (await listOpenAlerts(runtime, actor)).filter(
    ({ kind, subjectId }) => kind !== 'bucket_rejects' && (!pipeId || subjectId === pipeId),
  )
  return open.map((alert) => {
    const { raised, advice, path } = ALERT_WORDS[alert.kind]
    return {
      tone: CALM.includes(alert.kind) ? 'warn' : 'bad',
      title: raised(alert),
      text: [alert.detail, advice].filter(Boolean).join(' '),
      at: alert.raisedAt,
      href: path(alert),
      action: 'Open',
    }
  })
}

/** Anything that is still off after this time is assumed to be off on purpose. */
const TURNED_OFF_SHOWN_MS = days(30)

async function findTurnedOff(runtime: CoreRuntime, actor: Actor): Promise<Attention[]> {
  const [newest] = await listTurnedOff(runtime, actor)
  const at = newest && new Date(newest.turnedOffAt)
  if (!at || at.getTime() < runtime.clock.now() - TURNED_OFF_SHOWN_MS) return []
  const title = 'Keys, Senders, webhooks and Data Stores were turned off'
  const text = 'Someone used this account before you verified its address. Switch on only what you recognize.'
  return [{ tone: 'warn', title, text, at, href: '/dashboard/settings/turned-off', action: 'Review them' }]
}

/** Files stay in this status only while they await a decision or a bucket, so there are few to check. */
async function listAwaiting(
  { db }: CoreRuntime,
  { workspaceId }: Actor,
  pipeId?: string,
): Promise<Attention[]> {
  const [found] = await rows<{ count: number }>(
    db,
    sql`select (count(*) filter (where decision in ('asked', 'deferred')))::int as count from (
      select decision from files where workspace_id = ${workspaceId}::uuid and status = 'transferring'
        ${ofPipe(pipeId)} and erased_at is null limit ${MOST}::int) one`,
  )
  const { count } = found!
  if (count === 0) return []
  const title = count === 1 ? '1 file awaits a decision' : `${upTo(count, 'files')} await a decision`
  const text = 'Every byte has arrived. An object is created once its file is allowed.'
  const href = `${pipeId ? `/dashboard/pipes/${pipeId}` : '/dashboard'}/files?status=awaiting_decision`
  return [{ tone: 'decide', title, text, href, action: 'Decide' }]
}

const ofPipe = (pipeId: string | undefined) => (pipeId ? sql`and pipe_id = ${pipeId}` : sql``)

const upTo = (count: number, things: string) =>
  count === 1
    ? `1 ${things.slice(0, -1)}`
    : `${count.toLocaleString('en-US')}${count >= MOST ? ' or more' : ''} ${things}`

const UPLOADS = 3

/** A rejection by a decision hook is not a failure. */
async function listFailedUploads(
  { db }: CoreRuntime,
  { workspaceId }: Actor,
  pipeId?: string,
): Promise<Attention[]> {
  const isNotRejected = sql`${files.decision} is distinct from 'rejected'`
  const found = await db
    .select()
    .from(files)
    .where(
      and(
        eq(files.workspaceId, workspaceId),
        pipeId ? eq(files.pipeId, pipeId) : undefined,
        eq(files.status, 'failed'),
        isNotRejected,
        listed,
      ),
    )
    .orderBy(desc(files.id))
    .limit(UPLOADS)
  return found.map(({ id, filename, failureReason, finishedAt, createdAt }) => ({
    tone: 'bad',
    title: `${filename} failed`,
    text: failureReason ? explainFailure(failureReason) : 'The reason is unknown.',
    at: finishedAt ?? createdAt,
    href: `/dashboard/files/${id}`,
    action: 'Show the file',
  }))
}

type Failing = {
  id: string
  count: number
  url: string
  status: number | null
  error: string | null
  atMs: number
  /** Of an output that receives the events of one Pipe. */
  pipe: string | null
}

/** The outputs with events that were abandoned or are retried, from the newest of these events. */
async function listFailingOutputs(
  { db }: CoreRuntime,
  { workspaceId }: Actor,
  pipeId?: string,
): Promise<Attention[]> {
  const of = (state: 'failed' | 'pending') => sql`(select id, webhook_output_id, attempt_count from deliveries
    where workspace_id = ${workspaceId}::uuid and state = ${state} ${ofPipe(pipeId)} and not test order by id desc limit ${MOST}::int)`
  const found = await rows<Failing>(
    db,
    sql`with undelivered as (
      ${of('failed')} union all select * from ${of('pending')} pending where attempt_count > 0
    ), counted as (
      select webhook_output_id, count(*)::int as count, (array_agg(id order by id desc))[1] as newest from undelivered group by 1
    )
    select c.webhook_output_id as id, c.count, d.url, d.last_status as status, d.last_error as error,
      floor(extract(epoch from d.created_at) * 1000)::float8 as "atMs", p.name as pipe
    from counted c join deliveries d on d.id = c.newest left join webhook_outputs o on o.id = c.webhook_output_id
      left join pipes p on p.id = o.scope order by 1`,
  )
  return found.map(({ id, count, url, atMs, pipe, ...attempt }) => {
    const whose = pipe && !pipeId ? ` of ${pipe}` : ''
    return {
      tone: 'bad',
      title: `${new URL(url).host} has not accepted ${upTo(Math.min(count, MOST), 'webhooks')}${whose}`,
      text: explainAttempt(attempt),
      at: new Date(atMs),
      href: `/dashboard/webhooks?outputId=${id}`,
      action: 'Show and resend',
    }
  })
}

async function listMissingCopies(runtime: CoreRuntime, actor: Actor): Promise<Attention[]> {
  const stores = await readMissingCopies(runtime, actor)
  return stores.map(({ dataStoreId, name, files, reasons }) => ({
    tone: 'warn',
    title: `${upTo(files, 'files')} missing from ${name}`,
    text: reasons
      .map(({ reason, files: count, givenUp, detail }) =>
        [
          reasons.length > 1 && `${count}:`,
          REASONS_IN_WORDS[reason],
          detail,
          givenUp > 0 && `No further attempt will be made for ${givenUp} of them.`,
        ]
          .filter(Boolean)
          .join(' '),
      )
      .join(' '),
    href: `/dashboard/files?missingAt=${dataStoreId}`,
    action: 'Show files',
  }))
}
