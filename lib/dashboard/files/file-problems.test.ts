import { expect, it } from 'vitest'
import type { DestinationProgress } from './destination-progress.ts'
import type { File } from './file.ts'
import { type ImportSource, problemsOf } from './file-problems.ts'
import type { Undelivered } from './read-undelivered.ts'

const AT = '2026-11-28T10:00:00.000Z'
const file = (fields: object) =>
  ({
    pipeId: 'pipe_a',
    status: 'failed',
    decision: null,
    failureReason: null,
    destinations: [{ destinationId: 's' }],
    ...fields,
  }) as File
const from = (fields: object = {}) =>
  ({ lastError: null, nextAttemptAt: null, fetching: false, ...fields }) as ImportSource
const nothing = { from: null, progress: new Map(), undelivered: [] }

it.each<[string, Parameters<typeof file>[0], ImportSource | null, object]>([
  ['the client', { failureReason: 'interrupted' }, null, { tone: 'bad', title: 'The upload failed' }],
  [
    'the bucket',
    { failureReason: 'Access Denied' },
    null,
    {
      title: 'The bucket did not store the file',
      text: 'Access Denied',
      cause: { href: '/dashboard/data-stores/s' },
    },
  ],
  [
    'the source of an import',
    { failureReason: 'The source responded with status 404.' },
    from(),
    { title: 'The import failed', cause: { href: '/dashboard/pipes/pipe_a/import' } },
  ],
  [
    'the hook, which is no failure',
    {
      failureReason: 'rejected',
      decision: { state: 'rejected', reason: 'It has a virus.', decidedBy: 'dashboard' },
    },
    null,
    { tone: 'info', title: 'Rejected in the dashboard', text: 'It has a virus. No object was created.' },
  ],
  [
    'nobody',
    { status: 'expired', failureReason: 'Too late.' },
    null,
    { tone: 'warn', title: 'The upload expired' },
  ],
])('names whose decision or fault it was that a file ended: %s', (_, fields, source, problem) => {
  expect(problemsOf({ ...nothing, file: file(fields), from: source })).toMatchObject([problem])
})

it('shows the error of an import that is retried, but not while it is fetched', () => {
  const problems = (fields: object) =>
    problemsOf({ ...nothing, file: file({ status: 'uploading', destinations: [] }), from: from(fields) })
  const failing = { lastError: 'The source responded with status 503.', nextAttemptAt: AT }
  expect(problems(failing)).toMatchObject([{ tone: 'warn', text: failing.lastError, nextAttemptAt: AT }])
  expect(problems({ ...failing, fetching: true })).toEqual([])
})

it.each([
  ['that can be repaired', ['main'], 'It can be copied from main.', { dataStoreId: 's', name: 'archive' }],
  ['that nothing can be copied to', [], 'Grant s3:GetObject', undefined],
])('offers to repair a destination %s', (_, sources, text, repair) => {
  const progress = {
    destinationId: 's',
    name: 'archive',
    isRepairing: false,
    repairAtMs: Date.parse(AT),
    sources,
  }
  const [problem] = problemsOf({
    ...nothing,
    file: file({
      status: 'partially_transferred',
      destinations: [{ destinationId: 's', status: 'failed', reason: 'rejected' }],
    }),
    progress: new Map([['s', progress as unknown as DestinationProgress]]),
  })
  expect(problem).toMatchObject({ title: 'archive does not have the object', nextAttemptAt: AT })
  expect(problem!.text).toMatch(/^The bucket rejected it\. /)
  expect(problem!.text).toContain(text)
  expect(problem!.repair).toEqual(repair)
})

it('shows what the receiver of a webhook responded, and when it is sent again', () => {
  const failing: Undelivered = {
    outputId: 'o',
    deliveryIds: ['d2', 'd1'],
    host: 'a.example',
    error: 'It responded with 500.',
    response: 'database is locked',
    nextAttemptAtMs: Date.parse(AT),
  }
  const given = { ...nothing, file: file({ status: 'transferred', destinations: [] }) }
  expect(
    problemsOf({ ...given, undelivered: [failing, { ...failing, nextAttemptAtMs: null }] }),
  ).toMatchObject([
    {
      tone: 'warn',
      title: 'a.example has not accepted 2 webhooks',
      text: 'It responded with 500. “database is locked”',
      nextAttemptAt: AT,
      resend: { deliveryIds: ['d2', 'd1'] },
      cause: { href: '/dashboard/webhooks/outputs/o' },
    },
    { tone: 'bad', text: 'It responded with 500. “database is locked” No further attempt is planned.' },
  ])
})
