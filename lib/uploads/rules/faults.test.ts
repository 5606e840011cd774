import { describe, expect, it } from 'vitest'
import { BucketError, type BucketErrorKind } from '../../buckets/bucket-error.ts'
import { type Step, type Verdict, verdictOn } from './faults.ts'

const STEPS: Step[] = ['part', 'put', 'lastPart', 'complete', 'join']
const of = (kind: BucketErrorKind, code = 'Code') => new BucketError(kind, code, 'words')

/** Written out, so that a change of the table is a change here. */
const ROWS: [fault: string, error: unknown, ...Verdict[]][] = [
  ['trouble', of('trouble', 'SlowDown'), 'keep in tail', 'keep in tail', 'release', 'release', 'release'],
  ['refused', of('refused', 'AccessDenied'), 'release', 'release', 'release', 'release', 'release'],
  ['damaged', of('impossible', 'BadDigest'), 'release', 'release', 'release', 'fail', 'fail'],
  ['no_such_upload', of('no_such_upload'), 'look up', 'release', 'look up', 'look up', 'release'],
  ['exists', of('exists'), 'release', 'release', 'release', 'release', 'release'],
  ['impossible', of('impossible', 'InvalidPart'), 'release', 'fail', 'fail', 'fail', 'fail'],
  ['aborted', of('aborted'), 'release', 'release', 'release', 'release', 'release'],
  ['other', new Error('the database is away'), 'release', 'release', 'release', 'release', 'release'],
]

describe.each(ROWS)('a fault of the kind %s', (_, error, ...verdicts) => {
  it.each(STEPS.map((step, n) => [step, verdicts[n]!] as const))('at the step %s: %s', (step, verdict) => {
    expect(verdictOn(step, error)).toBe(verdict)
  })
})
