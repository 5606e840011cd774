import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import type { TimelineEntry } from '#lib/dashboard/files/file.ts'
import { Timeline } from './timeline.tsx'

const entry = (kind: string, detail: TimelineEntry['detail']) => ({
  at: '2026-11-28T10:00:00.000Z',
  kind,
  detail,
})

it.each<[string, TimelineEntry, string]>([
  ['a sign-in over SFTP', entry('sftp_opened', { address: '192.0.2.1' }), 'log-in'],
  ['an allowed file', entry('decided', { decision: 'allowed', by: 'member' }), 'check'],
  ['a deferred decision', entry('decided', { decision: 'deferred', by: 'hook' }), 'circle'],
  ['a rejected file', entry('decided', { decision: 'rejected', by: 'member' }), 'x'],
  [
    'a source that failed',
    entry('import_interrupted', {
      error: 'It responded with 503.',
      nextAttemptAt: '2026-11-28T10:05:00.000Z',
    }),
    'triangle-alert',
  ],
])('shows only trouble as a warning: %s', (_, one, icon) => {
  const html = renderToStaticMarkup(<Timeline entries={[one]} />)
  expect([...html.matchAll(/lucide-([a-z-]+)/g)].map(([, name]) => name)).toContain(icon)
  expect(html.includes('lucide-triangle-alert')).toBe(icon === 'triangle-alert')
})

it('shows no wait before a resume, which tells it in its text', () => {
  const request = entry('request', { fromBytes: 0, toBytes: 5, ended: 'cut' })
  const resume = (resumed: boolean) => ({
    ...entry('request', { fromBytes: 5, toBytes: 9, ended: 'end', resumed }),
    at: '2026-11-28T10:00:10.600Z',
  })
  const shows = (resumed: boolean) =>
    renderToStaticMarkup(<Timeline entries={[request, resume(resumed)]} />).includes('after 10.6 s')
  expect([shows(false), shows(true)]).toEqual([true, false])
})
