import { createHash, createPublicKey, generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { asc, lt } from 'drizzle-orm'
import { signingKeys } from '#drizzle/schema/index.ts'
import { days } from '../../platform/kernel/clock.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type Place, sealsForColumns } from '../../platform/vault.ts'

/**
 * The keys that sign statements. Clouds verify statements with the published keys, which they may cache for a day, so a
 * new key is published before it signs, and stays published after it has stopped. Rotation happens when keys are used.
 */
export type IssuerRuntime = Pick<Runtime, 'db' | 'clock' | 'vault'>
type SigningKey = typeof signingKeys.$inferSelect

/** How long after its creation a key is replaced by the next. */
const LIFETIME_MS = days(90)
/** How long a new key does not sign yet, and for how long an old key stays published afterwards. */
const OVERLAP_MS = days(2)

export const signingKeyPlace = (id: string): Place => ({
  column: 'signing_keys.sealed',
  id,
  row: `signing_key:${id}`,
})

/** `keys` are sorted by age, with the oldest first. Without an older key, nobody can have cached the key set. */
export function scheduleOf<Key extends { createdAt: Date }>(keys: readonly Key[], nowMs: number) {
  const signsFromMs = (at: number) => keys[at]!.createdAt.getTime() + (at > 0 ? OVERLAP_MS : 0)
  const published = keys.filter((_, at) => at === keys.length - 1 || nowMs < signsFromMs(at + 1) + OVERLAP_MS)
  const signing = keys.findLast((_, at) => at === 0 || signsFromMs(at) <= nowMs)
  const newest = keys.at(-1)
  return { published, signing, isDue: !newest || newest.createdAt.getTime() + LIFETIME_MS <= nowMs }
}

export async function readSigningKeys(
  runtime: IssuerRuntime,
): Promise<{ published: SigningKey[]; signing: SigningKey }> {
  const read = async () => {
    const keys = await runtime.db.select().from(signingKeys).orderBy(asc(signingKeys.id))
    return { keys, ...scheduleOf(keys, runtime.clock.now()) }
  }
  const found = await read()
  if (found.isDue) await createNext(runtime, (found.keys.at(-1)?.id ?? 0) + 1)
  const { published, signing } = found.isDue ? await read() : found
  return { published, signing: signing! }
}

async function createNext({ db, clock, vault }: IssuerRuntime, id: number): Promise<void> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  await db.transaction(async (tx) => {
    const seal = await sealsForColumns(tx, vault)
    const key = {
      id,
      sealed: seal(privateKey, signingKeyPlace(String(id))),
      publicKey: describe(publicKey),
      createdAt: new Date(clock.now()),
    }
    // The key before the last stopped signing long ago.
    await tx.delete(signingKeys).where(lt(signingKeys.id, id - 1))
    await tx.insert(signingKeys).values(key).onConflictDoNothing()
  })
}

/** The key as in a JSON Web Key Set, with its thumbprint as its id (RFC 7638). */
function describe(pem: string): Record<string, string> {
  const { e, kty, n } = createPublicKey(pem).export({ format: 'jwk' }) as {
    e: string
    kty: string
    n: string
  }
  const kid = createHash('sha256').update(JSON.stringify({ e, kty, n })).digest('base64url')
  return { kty, use: 'sig', alg: 'RS256', kid, n, e }
}
