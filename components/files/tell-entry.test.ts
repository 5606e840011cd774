import { expect, it } from 'vitest'
import { foldRequests, tellEntry } from './tell-entry.ts'

const request = (fromBytes: number, toBytes: number, ended = 'end') => ({
  at: '2026-11-21T08:00:00.000Z',
  kind: 'request',
  detail: { fromBytes, toBytes, ended },
})

it('folds requests that follow each other, and stops at a break', () => {
  const told = foldRequests([
    request(0, 100),
    request(100, 200),
    request(200, 250, 'cut'),
    request(250, 400),
  ]).map(tellEntry)
  expect(told.map(({ title, text }) => [title, text])).toEqual([
    ['Bytes arrived', '250 B confirmed in 3 requests, then the connection was lost'],
    ['Resumed at 250 B', '150 B confirmed'],
  ])
})

it('tells what a webhook attempt met', () => {
  const detail = {
    status: null,
    error: 'timeout',
    url: 'https://a.example/x',
    durationMs: 15_000,
    trigger: 'auto',
  }
  expect(tellEntry({ at: '', kind: 'webhook_attempt', detail })).toEqual({
    title: 'Webhook failed: timeout',
    text: 'a.example in 15.0 s',
    tone: 'bad',
  })
})
