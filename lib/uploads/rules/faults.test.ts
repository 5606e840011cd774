import { describe, expect, it } from 'vitest'
import { BucketError, type BucketErrorKind } from '../../buckets/bucket-error.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { type Blame, classify, errorForClient, type Remedy, type Step } from './faults.ts'

const STEPS: Step[] = ['part', 'put', 'last part', 'complete', 'join', 'look up', 'clear']
const of = (kind: BucketErrorKind, code = 'Code') => new BucketError(kind, code, 'words')
const repeated = (error: BucketError) => Object.assign(error, { attempts: 2 })

/** The table is repeated here, so that every change to it requires a change to this test. */
const ROWS: [fault: string, error: unknown, remedies: Remedy[]][] = [
  [
    'trouble',
    of('trouble', 'SlowDown'),
    ['keep in tail', 'keep in tail', 'release', 'release', 'release', 'release', 'release'],
  ],
  [
    'refused',
    of('refused', 'AccessDenied'),
    ['release', 'release', 'release', 'release', 'release', 'unknown', 'fail'],
  ],
  ['damaged', of('damaged'), ['release', 'release', 'release', 'fail', 'fail', 'release', 'fail']],
  [
    'no_such_upload',
    of('no_such_upload'),
    ['look up', 'release', 'look up', 'look up', 'release', 'release', 'fail'],
  ],
  ['exists', of('exists'), ['release', 'release', 'release', 'compare', 'compare', 'release', 'fail']],
  [
    'impossible',
    of('impossible', 'InvalidPart'),
    ['release', 'fail', 'fail', 'fail', 'fail', 'release', 'fail'],
  ],
  ['aborted', of('aborted'), ['release', 'release', 'release', 'release', 'release', 'release', 'release']],
  [
    'other',
    new Error('the database is away'),
    ['release', 'release', 'release', 'release', 'release', 'release', 'fail'],
  ],
]

describe.each(ROWS)('a fault of kind %s', (_, error, remedies) => {
  it.each(STEPS.map((step, n) => [step, remedies[n]!] as const))('at the step %s: %s', (step, remedy) => {
    expect(classify(error, step).remedy).toBe(remedy)
  })
})

it('is not final if the bucket refuses a cleanup that the credentials allow', () => {
  expect(classify(of('refused'), 'clear', { mayClear: true }).remedy).toBe('release')
  expect(classify(of('no_such_upload'), 'clear', { mayClear: true }).remedy).toBe('fail')
})

describe('a Complete whose object may exist, with credentials that do not allow looking it up', () => {
  const DAY_MS = 86_400_000
  const judge = (error: BucketError, attempts: { sentBefore?: boolean; ageMs?: number }) =>
    classify(error, 'complete', { ...attempts, mayRead: false }).remedy

  it('has created it if the bucket has an object, or if nothing else can have ended a repeated Complete', () => {
    expect(judge(of('exists'), { ageMs: 30 * DAY_MS })).toBe('infer')
    expect(judge(of('no_such_upload'), { sentBefore: true, ageMs: DAY_MS - 1 })).toBe('infer')
    expect(judge(repeated(of('no_such_upload')), { ageMs: 0 })).toBe('infer')
  })

  it('is unknown if a lifecycle rule may have ended the upload, or if no Complete was sent before', () => {
    expect(judge(of('no_such_upload'), { sentBefore: true, ageMs: DAY_MS })).toBe('look up')
    expect(judge(of('no_such_upload'), { ageMs: 0 })).toBe('look up')
  })

  it('is looked up if the credentials allow it', () => {
    expect(classify(of('no_such_upload'), 'complete', { sentBefore: true, ageMs: 0 }).remedy).toBe('look up')
  })
})

describe('the effect of a request that failed', () => {
  const rejected = [of('refused'), of('impossible'), of('damaged')]
  const open = [of('trouble'), of('no_such_upload'), of('exists'), of('aborted'), new Error('gone')]

  it.each(rejected)('is none if its only attempt was rejected: %o', (error) => {
    expect(classify(error, 'complete').effect).toBe('none')
    expect(classify(new SluiceError('bucket_refused', '', { cause: error }), 'put').effect).toBe('none')
  })

  it.each(open)('is possible if the response does not rule it out: %o', (error) => {
    expect(classify(error, 'complete').effect).toBe('possible')
    expect(classify(error, 'put').effect).toBe('possible')
  })

  it.each([of('refused'), of('impossible')])('is possible after several attempts: %o', (error) => {
    expect(classify(repeated(error), 'complete').effect).toBe('possible')
  })

  it('is possible if an earlier attempt may have had an effect, and none while the last part is missing', () => {
    expect(classify(of('refused'), 'complete', { sentBefore: true }).effect).toBe('possible')
    expect(classify(of('trouble'), 'last part').effect).toBe('none')
    expect(classify(of('trouble'), 'last part', { sentBefore: true }).effect).toBe('possible')
  })
})

it.each<[Blame, unknown]>([
  ['bucket', of('refused')],
  ['bucket', of('trouble')],
  ['bucket', new SluiceError('bucket_refused', 'Denied.', { cause: of('refused') })],
  ['client', new SluiceError('file_too_large')],
  ['client', new SluiceError('checksum_mismatch')],
  ['rival', new SluiceError('upload_locked')],
  ['end', new SluiceError('upload_gone')],
  ['us', new SluiceError('unavailable')],
  ['us', of('aborted')],
  ['us', new Error('the database is away')],
])('blames the %s for %o', (blame, error) => {
  expect(classify(error, 'put').blame).toBe(blame)
})

it("gives the client the bucket's message, and the time to wait before trying again", () => {
  const refused = errorForClient(of('refused')) as SluiceError
  expect([refused.status, refused.message]).toEqual([502, 'words'])
  expect(refused.headers).not.toHaveProperty('Retry-After')
  expect((errorForClient(of('trouble')) as SluiceError).headers).toMatchObject({ 'Retry-After': '5' })
  const own = new SluiceError('file_too_large')
  expect(errorForClient(own)).toBe(own)
})
