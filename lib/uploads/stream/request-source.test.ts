import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RequestSource } from './request-source.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

function listen() {
  const body = new PassThrough()
  const source = new RequestSource(body as unknown as IncomingMessage)
  const ended = Promise.withResolvers<string>()
  source.start((chunk) => chunk.length, ended.resolve)
  return { body, source, ended: ended.promise }
}

it('closes the connection of a client that sends nothing for two minutes', async () => {
  const { body, ended } = listen()
  vi.advanceTimersByTime(160_000)
  expect(body.destroyed).toBe(true)
  expect(await ended).toBe('cut')
})

it('does not close the connection of a client that has to wait', () => {
  const { body, source } = listen()
  source.pause()
  vi.advanceTimersByTime(600_000)
  expect(body.destroyed).toBe(false)
})

it('does not close the connection of a client that sends one byte a minute for ten minutes', () => {
  const { body } = listen()
  for (let minute = 0; minute < 10; minute++) {
    vi.advanceTimersByTime(60_000)
    body.emit('data', Buffer.from('x'))
  }
  expect(body.destroyed).toBe(false)
})

it('delivers untaken bytes again, in order, and then the end', async () => {
  const body = new PassThrough()
  const source = new RequestSource(body as unknown as IncomingMessage)
  const came: string[] = []
  let ended = false
  const take = (chunk: Buffer) => {
    came.push(chunk.toString())
    if (came.length > 1) return chunk.length
    source.pause()
    return 2
  }
  source.start(take, () => {
    ended = true
  })
  body.end('abcd')
  await new Promise(setImmediate)
  expect({ came, ended }).toEqual({ came: ['abcd'], ended: false })
  source.resume()
  await new Promise(setImmediate)
  expect({ came, ended }).toEqual({ came: ['abcd', 'cd'], ended: true })
})

it('reports a disconnected client immediately, even if not all bytes were taken', async () => {
  const { body, source, ended } = listen()
  source.pause()
  body.emit('data', Buffer.from('abcd'))
  body.destroy()
  expect(await ended).toBe('cut')
})

it('does not block the client once it is stopped, so that the client can read a refusal after sending the rest', async () => {
  const { body, source } = listen()
  source.stop()
  body.resume()
  for (let chunks = 0; chunks < 20; chunks += 1) body.write(Buffer.alloc(65_536))
  body.end()
  await new Promise<void>((resolve) => {
    body.on('end', resolve)
    setImmediate(() => setImmediate(resolve))
  })
  expect(body.readableEnded).toBe(true)
})

it('frees the memory of chunks that were taken, even small ones', () => {
  const { body } = listen()
  const chunk = Buffer.allocUnsafeSlow(1000)
  body.emit('data', chunk)
  expect(chunk.length).toBe(0)
})
