import { Agent } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, it, vi } from 'vitest'
import { startDrippingBucket } from '../../test/support/dripping-bucket.ts'
import { systemClock } from '../platform/kernel/clock.ts'
import { createCaller } from './call-bucket.ts'

afterEach(() => {
  vi.useRealTimers()
})

it('allows 30 s plus one second per 256 KiB for a part, including its response', async () => {
  const bucket = await startDrippingBucket()
  const http = new Agent()
  const place = { endpoint: bucket.endpoint, bucket: 'media', forcePathStyle: true }
  const call = createCaller(
    place,
    { authorize: ({ headers }) => headers },
    { clock: systemClock, agents: { http, https: http as never }, retryDelaysMs: [] },
  )
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const chunk = Buffer.alloc(1024 * 1024)
  let ended = false
  const answered = call({
    operation: 'PutObject',
    method: 'PUT',
    key: 'a',
    body: [chunk],
    bytes: chunk.length,
  })
  const refused = expect(answered).rejects.toMatchObject({ kind: 'trouble' })
  void answered.catch(() => {
    ended = true
  })
  while (bucket.dripping === 0) await setImmediate()
  await vi.advanceTimersByTimeAsync(33_999)
  expect(ended).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await refused
  http.destroy()
  await bucket.close()
})
