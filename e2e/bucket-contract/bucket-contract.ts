import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accessClauses } from './access-clauses.ts'
import { type BucketUnderTest, Ground } from './ground.ts'
import { integrityClauses } from './integrity-clauses.ts'
import { listingClauses } from './listing-clauses.ts'
import { multipartClauses, multipartRefusalClauses } from './multipart-clauses.ts'
import { objectClauses } from './object-clauses.ts'

/**
 * What Sluice assumes about S3, tested on a bucket with the unmodified AWS SDK. The name of each clause is a sentence.
 * A bucket that does not support everything lists the clauses it breaks. Each of those must fail, so that a clause that
 * works does not stay on the list.
 */
const GROUPS = {
  objects: objectClauses,
  'multipart uploads': multipartClauses,
  'multipart upload errors': multipartRefusalClauses,
  integrity: integrityClauses,
  access: accessClauses,
  listing: listingClauses,
}

const TIMEOUT_MS = 60_000

export function bucketContract(
  name: string,
  make: () => Promise<BucketUnderTest>,
  { cannot }: { cannot: readonly string[] },
): void {
  const unknown = cannot.filter((clause) => !Object.values(GROUPS).some((clauses) => clause in clauses))
  if (unknown.length > 0) throw new Error(`there is no clause '${unknown.join("', '")}'`)
  describe(`${name} fulfills the bucket contract`, () => {
    let ground: Ground
    beforeAll(async () => {
      ground = new Ground(await make())
    })
    afterAll(async () => {
      await ground.leave()
    })
    for (const [group, clauses] of Object.entries(GROUPS)) {
      describe(group, () => {
        for (const [clause, prove] of Object.entries(clauses)) {
          if (cannot.includes(clause))
            it(`cannot: ${clause}`, () => expect(prove(ground)).rejects.toThrow(), TIMEOUT_MS)
          else it(clause, () => prove(ground), TIMEOUT_MS)
        }
      })
    }
  })
}
