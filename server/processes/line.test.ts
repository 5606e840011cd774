import { EventEmitter } from 'node:events'
import { afterEach, expect, it, vi } from 'vitest'
import { openLine } from './line.ts'

afterEach(() => void vi.useRealTimers())

/** Two ends of a line, like those between processes: each receives what the other sends. */
function ends(hears = true) {
  class End extends EventEmitter {
    other!: End
    send(message: object): void {
      if (hears) this.other.emit('message', JSON.parse(JSON.stringify(message)))
    }
  }
  const [one, other] = [new End(), new End()]
  one.other = other
  other.other = one
  return { one, other }
}

it('lets each side answer questions from the other', async () => {
  const { one, other } = ends()
  const left = openLine(one, { name: async () => 'left' })
  const right = openLine(other, { name: async () => 'right' })
  expect(await Promise.all([left.ask('name'), right.ask('name')])).toEqual(['right', 'left'])
})

it('returns no answer if the other side fails, disconnects or is silent', async () => {
  const { one, other } = ends()
  const line = openLine(one, {})
  openLine(other, { fails: () => Promise.reject(new Error('no')), waits: () => new Promise(() => {}) })
  expect(await line.ask('fails')).toBeNull()
  const waiting = line.ask('waits')
  one.emit('disconnect')
  expect(await waiting).toBeUndefined()
  vi.useFakeTimers()
  const unheard = openLine(ends(false).one, {}).ask('name')
  await vi.advanceTimersByTimeAsync(2000)
  expect(await unheard).toBeUndefined()
})
