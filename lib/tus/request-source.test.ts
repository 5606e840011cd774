import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { requestSource } from './request-source.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

function listen() {
  const body = new PassThrough()
  const source = requestSource(body as unknown as IncomingMessage)
  const ended = Promise.withResolvers<string>()
  source.start(() => {}, ended.resolve)
  return { body, source, ended: ended.promise }
}

it('closes the connection of a client that sends nothing for two minutes', async () => {
  const { body, ended } = listen()
  vi.advanceTimersByTime(160_000)
  expect(body.destroyed).toBe(true)
  expect(await ended).toBe('cut')
})

it('keeps a client that is made to wait', () => {
  const { body, source } = listen()
  source.pause()
  vi.advanceTimersByTime(600_000)
  expect(body.destroyed).toBe(false)
})

it('keeps a client that trickles for ten minutes, one byte a minute', () => {
  const { body } = listen()
  for (let minute = 0; minute < 10; minute++) {
    vi.advanceTimersByTime(60_000)
    body.emit('data', Buffer.from('x'))
  }
  expect(body.destroyed).toBe(false)
})
