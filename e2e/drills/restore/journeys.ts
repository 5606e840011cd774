import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { rows } from '#lib/platform/db/database.ts'
import { type HeldUpload, holdUpload } from './held-upload.ts'
import { type Customer, type Place, UNHEARD } from './place.ts'

/** The kinds of uploads: their states at the backup and at the crash, and what the client does. */
export const KINDS = {
  before: 'finished before the backup',
  unheard: 'finished before the backup, with its webhook still rejected',
  open: 'in progress at the backup and at the crash',
  since: 'in progress at the backup, finished before the crash; its client returns',
  lost: 'in progress at the backup, finished before the crash; its client never returns',
  during: 'created and finished while the backup was taken',
  new: 'created and finished after the backup',
} as const
export type Kind = keyof typeof KINDS
export type Journey = {
  kind: Kind
  customer: Customer
  name: string
  bytes: Buffer
  address: string
  fileId: string
  key: string
  inParts: boolean
}

const MiB = 1024 * 1024
const SIZES = { inParts: { bytes: 16 * MiB, sentBytes: 11 * MiB }, whole: { bytes: MiB, sentBytes: MiB / 2 } }

export async function begin(kind: Kind, customer: Customer, inParts: boolean): Promise<Journey & HeldUpload> {
  const { bytes: size, sentBytes } = SIZES[inParts ? 'inParts' : 'whole']
  const name = `${kind === 'unheard' ? UNHEARD : kind}-${randomBytes(6).toString('hex')}.bin`
  const bytes = randomBytes(size)
  const held = await holdUpload(customer, { name, bytes, sentBytes })
  const fileId = held.address.split('/').at(-1)!
  return { ...held, kind, customer, name, bytes, fileId, key: `${fileId}/${name}`, inParts }
}

export async function finished(kind: Kind, customer: Customer, inParts: boolean): Promise<Journey> {
  const journey = await begin(kind, customer, inParts)
  const status = await journey.finish()
  if (status !== 204) throw new Error(`finishing ${journey.name} returned ${status}`)
  return journey
}

/** Waits until the ledger has a part of each multipart upload. */
export async function untilUnderWay(
  { database: { db } }: Place,
  journeys: readonly Journey[],
): Promise<void> {
  const ids = journeys.filter(({ inParts }) => inParts).map(({ fileId }) => fileId)
  const look = sql`select id from files where id in ${ids} and offset_bytes > 0`
  while ((await rows(db, look)).length < ids.length) await sleep(50)
}
