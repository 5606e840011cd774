import { expect, it } from 'vitest'
import { afterAnswer, afterUpload, note, SILENT } from './wire.ts'

const url = 'http://localhost/pipes/pipe_x/files/0196f0c3-7b1e-7c42-9d55-1f0a6f2f8a10'

it('counts the resumes, and each saved byte once', () => {
  let wire = afterAnswer(SILENT, { method: 'PATCH', url, status: 204, offset: 100 }, 0)
  expect([wire.confirmedBytes, wire.savedBytes, wire.resumes]).toEqual([100, 0, 0])
  wire = afterAnswer(wire, { method: 'HEAD', url, status: 200, offset: 250 }, 0)
  wire = afterAnswer(wire, { method: 'HEAD', url, status: 200, offset: 400 }, 0)
  expect([wire.confirmedBytes, wire.savedBytes, wire.resumes]).toEqual([400, 400, 2])
  expect(wire.fileId).toBe('0196f0c3-7b1e-7c42-9d55-1f0a6f2f8a10')
})

it('shows a refused request as an error and does not count it as a resume', () => {
  const wire = afterAnswer(SILENT, { method: 'PATCH', url, status: 401, offset: undefined }, 0)
  expect(wire.lines).toEqual([{ id: 1, at: 0, text: 'PATCH → 401', tone: 'bad', requests: 0 }])
  expect(wire.resumes).toBe(0)
})

it('has one line for consecutive requests that succeed, so that what happens between them stays in sight', () => {
  const patch = (before: typeof SILENT, offset: number) =>
    afterAnswer(before, { method: 'PATCH', url, status: 204, offset }, offset)
  const cut = note(patch(patch(SILENT, 1000), 2000), 'the connection was cut', 'bad', 2500)
  const { lines } = patch(cut, 3000)
  expect(lines.map(({ id, at, text }) => [id, at, text])).toEqual([
    [1, 2000, '2 × PATCH → 204, confirmed 2,000'],
    [2, 2500, 'the connection was cut'],
    [3, 3000, 'PATCH → 204, confirmed 3,000'],
  ])
})

it('only keeps the newest lines', () => {
  let wire = SILENT
  for (let n = 0; n < 100; n += 1) wire = note(wire, String(n), 'plain', n)
  expect([wire.lines.length, wire.lines.at(-1)?.text]).toEqual([60, '99'])
})

it('reports each reason for waiting or failing once, and the completion', () => {
  const upload = { id: 'a', name: 'film.mov', type: '', size: 500, sentBytes: 100 }
  let wire = afterUpload(SILENT, { ...upload, state: 'waiting', reason: 'Waiting for the network' }, 0)
  wire = afterUpload(wire, { ...upload, state: 'waiting', reason: 'Waiting for the network' }, 0)
  expect(wire.waiting).toBe('Waiting for the network')
  wire = afterUpload(wire, { ...upload, state: 'failed', reason: 'Not allowed' }, 0)
  expect([wire.failed, wire.waiting]).toEqual([true, undefined])
  expect(wire.lines.map(({ text }) => text)).toEqual(['Waiting for the network', 'Not allowed'])
  wire = afterUpload(wire, { ...upload, state: 'done', sentBytes: 500 }, 0)
  expect([wire.done, wire.failed, wire.confirmedBytes]).toEqual([true, false, 500])
})
