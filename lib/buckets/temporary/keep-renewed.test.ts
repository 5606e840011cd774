import { expect, it } from 'vitest'
import { keepRenewed, type Temporary } from './keep-renewed.ts'

function startIssuer() {
  const clock = { ms: 0, now: () => clock.ms }
  const waiting: PromiseWithResolvers<Temporary<string>>[] = []
  const renewed = keepRenewed(() => {
    waiting.push(Promise.withResolvers())
    return waiting.at(-1)!.promise
  }, clock)
  const issue = async (value: string) => {
    waiting.at(-1)!.resolve({ value, lifetimeMs: 20_000 })
    await renewed.current()
  }
  return { clock, waiting, renewed, issue }
}

it('requests credentials once, however many requests wait for them', async () => {
  const { waiting, renewed, issue } = startIssuer()
  const first = [renewed.current(), renewed.current(), renewed.current()]
  await issue('one')
  expect(await Promise.all(first)).toEqual(['one', 'one', 'one'])
  expect(waiting).toHaveLength(1)
})

it('renews credentials before they end, while requests continue with the old ones', async () => {
  const { clock, waiting, renewed, issue } = startIssuer()
  const first = renewed.current()
  await issue('one')
  await first
  clock.ms = 14_999
  await renewed.current()
  expect(waiting).toHaveLength(1)
  clock.ms = 15_000
  expect([await renewed.current(), await renewed.current()]).toEqual(['one', 'one'])
  expect(waiting).toHaveLength(2)
  await issue('two')
  expect(await renewed.current()).toBe('two')
})

it('counts the lifetime from the request, and never returns credentials that are about to end', async () => {
  const { clock, waiting, renewed, issue } = startIssuer()
  void renewed.current()
  clock.ms = 10_000
  await issue('one')
  clock.ms = 18_999
  expect(await renewed.current()).toBe('one')
  clock.ms = 19_000
  const later = renewed.current()
  await issue('two')
  expect(await later).toBe('two')
  expect(waiting).toHaveLength(2)
})

it('continues with valid credentials if a renewal fails, and tries again after 5 s', async () => {
  const { clock, waiting, renewed, issue } = startIssuer()
  void renewed.current()
  await issue('one')
  clock.ms = 15_000
  await renewed.current()
  waiting.at(-1)!.reject(new Error('unavailable'))
  await new Promise(setImmediate)
  clock.ms = 18_500
  expect(await renewed.current()).toBe('one')
  expect(waiting).toHaveLength(2)
  clock.ms = 20_000
  const ended = renewed.current()
  waiting.at(-1)!.reject(new Error('still unavailable'))
  await expect(ended).rejects.toThrow('still unavailable')
  expect(waiting).toHaveLength(3)
})

it('requests credentials as soon as the old ones have ended, even right after a renewal failed', async () => {
  const { clock, waiting, renewed, issue } = startIssuer()
  void renewed.current()
  await issue('one')
  clock.ms = 18_500
  await renewed.current()
  waiting.at(-1)!.reject(new Error('unavailable'))
  await new Promise(setImmediate)
  clock.ms = 19_000
  const ended = renewed.current()
  await issue('two')
  expect(await ended).toBe('two')
})
