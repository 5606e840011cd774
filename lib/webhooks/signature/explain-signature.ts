import { and, desc, eq } from 'drizzle-orm'
import { z } from 'zod'
import { attempts, deliveries, events } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findOutput } from '../outputs/find-output.ts'
import { openSecrets } from '../outputs/signing-secrets.ts'
import { type Finding, verifyWebhook } from './signature.ts'

export const receivedInput = z.strictObject({
  outputId: z.string().min(1, 'must be a webhook output'),
  headers: z.string().min(1, 'must not be empty').max(20_000, 'is too long'),
  body: z.string().min(1, 'must not be empty').max(1_000_000, 'is too long'),
  /** The receiver's secret, for comparison. It is neither stored nor logged. */
  secret: z.string().max(500, 'is too long').optional(),
})

export type Part = { name: string; ok: boolean | undefined; text: string }
export type Explanation = { valid: boolean; parts: Part[] }

/** Compares each part of a received webhook with what Sluice sent, to show which part differs. */
export async function explainSignature(
  { db, clock, vault }: Pick<Runtime, 'db' | 'clock' | 'vault'>,
  actor: Actor,
  input: z.output<typeof receivedInput>,
): Promise<Explanation> {
  const { output } = await findOutput(db, actor, { outputId: input.outputId })
  const secrets = openSecrets(vault, output, clock.now())
  const headers = readHeaders(input.headers)
  const verdict = verifyWebhook({ headers, body: input.body }, secrets, clock.now())
  const sent = await findSent(db, actor, headers['webhook-id'] ?? idOf(input.body))
  const parts = [
    signaturePart('X-Service-Signature', verdict.service),
    signaturePart('webhook-signature', verdict.standard),
    bodyPart(input.body, sent?.payload),
    ...(sent ? headerParts(headers, sent.headers) : []),
    ...(input.secret ? [secretPart(secrets.includes(input.secret.trim()))] : []),
  ]
  const judged = [verdict.service, verdict.standard].filter((finding) => finding !== 'missing')
  return { valid: judged.length > 0 && judged.every((finding) => finding === 'valid'), parts }
}

type SentWebhook = { payload: string; headers: Record<string, string>[] }

async function findSent(
  db: Runtime['db'],
  actor: Actor,
  id: string | undefined,
): Promise<SentWebhook | undefined> {
  if (!id || !isUuid(id)) return undefined
  const [event] = await db
    .select({ payload: events.payload })
    .from(events)
    .where(and(eq(events.id, id), eq(events.workspaceId, actor.workspaceId)))
  if (!event?.payload) return undefined
  const made = await db
    .select({ headers: attempts.requestHeaders })
    .from(attempts)
    .innerJoin(deliveries, eq(deliveries.id, attempts.deliveryId))
    .where(eq(deliveries.eventId, id))
    .orderBy(desc(attempts.id))
    .limit(20)
  return { payload: event.payload, headers: made.map((attempt) => attempt.headers) }
}

const WORDS: Record<Finding, string> = {
  valid: 'The signature matches and is recent.',
  missing: 'The headers do not include this signature.',
  malformed: 'The signature is not in the format that Sluice sends.',
  mismatch: "The signature does not match this body and this output's secret.",
  too_old: 'The signature matches, but is more than 5 minutes old. A receiver must now reject it.',
  too_new: 'The signature matches, but its time is in the future: one of the clocks is wrong.',
}

export function signaturePart(name: string, finding: Finding): Part {
  const matches = finding === 'valid' || finding === 'too_old' || finding === 'too_new'
  return { name, ok: finding === 'missing' ? undefined : matches, text: WORDS[finding] }
}

function bodyPart(body: string, sent: string | undefined): Part {
  if (sent === undefined)
    return {
      name: 'Body',
      ok: undefined,
      text: 'There is no event with this id, so there is nothing to compare.',
    }
  const difference = differenceOf(body, sent)
  return { name: 'Body', ok: !difference, text: difference ?? 'Identical to what was sent, byte for byte.' }
}

const COMPARED = ['x-service-signature', 'webhook-timestamp', 'webhook-signature']

/** Compares with the attempt that has the same timestamp, otherwise with the latest. */
function headerParts(received: Record<string, string>, sent: Record<string, string>[]): Part[] {
  const lower = sent.map((headers) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  )
  const same = lower.find((headers) => headers['webhook-timestamp'] === received['webhook-timestamp'])
  const attempt = same ?? lower[0]
  if (!attempt) return []
  return COMPARED.filter((name) => received[name] !== undefined).map((name) => {
    const ok = received[name] === attempt[name]
    const text = ok ? 'As sent.' : `Sluice sent ${attempt[name]}`
    return { name: `${name}, as sent`, ok, text }
  })
}

function secretPart(ok: boolean): Part {
  const text = ok
    ? "This is the output's secret."
    : "This is not the output's secret. Reveal the secret on the output's page and compare."
  return { name: 'Your secret', ok, text }
}

function idOf(body: string): string | undefined {
  return body.match(/"id"\s*:\s*"([0-9a-f-]{36})"/)?.[1]
}

/**
 * Reads headers in the formats in which tools show them: `Name: value` lines, or a JSON object. Returns the names in
 * lower case.
 */
export function readHeaders(text: string): Record<string, string> {
  const pairs = fromJson(text) ?? text.split('\n').map((line) => line.split(/:(.*)/s, 2))
  return Object.fromEntries(
    pairs.flatMap(([name, value]) =>
      name && value !== undefined ? [[name.trim().toLowerCase(), String(value).trim()]] : [],
    ),
  )
}

function fromJson(text: string): (string | undefined)[][] | undefined {
  if (!text.trim().startsWith('{')) return undefined
  try {
    return Object.entries(JSON.parse(text) as Record<string, string>)
  } catch {
    return undefined
  }
}

const AROUND = 24

/** Describes where a body first differs from the one sent; undefined if it is the same. */
export function differenceOf(received: string, sent: string): string | undefined {
  if (received === sent) return undefined
  if (received.trim() === sent) return 'The same, except for leading or trailing whitespace.'
  if (sameJson(received, sent))
    return 'The same JSON, re-serialized by a JSON parser. Verify the raw bytes of the request instead.'
  let at = 0
  while (at < Math.min(received.length, sent.length) && received[at] === sent[at]) at += 1
  const show = (text: string) => JSON.stringify(text.slice(Math.max(0, at - AROUND), at + AROUND))
  return `The body differs from character ${at + 1}: sent ${show(sent)}, received ${show(received)}.`
}

function sameJson(one: string, other: string): boolean {
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other))
  } catch {
    return false
  }
}
