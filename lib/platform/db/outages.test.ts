import { stat } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { createOutages } from './outages.ts'

const TIMES = { suspectAfterMs: 1, answerWithinMs: 400, askEveryMs: 10 }
const gone = Object.assign(new Error('gone'), { code: 'ECONNREFUSED', query: 'select 1' })

function block(ms: number): void {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs);
}

it('does not count a busy process as an outage', async () => {
  const outages = createOutages(TIMES)
  outages.watch({
    async ask() {
      // The database has already responded each time, but this process has not read the response yet.
      for (let step = 0; step < 5; step++) {
        await stat('/')
        block(TIMES.answerWithinMs / 2)
      }
    },
  })
  expect(await outages.explains(gone)).toBe(false)
  outages.close()
})

it('counts a database that does not respond as an outage', async () => {
  const outages = createOutages(TIMES)
  outages.watch({ ask: () => new Promise(() => {}) })
  expect(await outages.explains(gone)).toBe(true)
  outages.close()
})

it('treats failures shortly after an outage as part of it', async () => {
  let isBack = false
  const outages = createOutages(TIMES)
  const back = Promise.withResolvers<void>()
  outages.watch({ ask: async () => isBack || Promise.reject(gone), onBack: () => back.resolve() })
  expect(await outages.explains(gone)).toBe(true)
  isBack = true
  await back.promise
  expect(await outages.explains(gone)).toBe(true)
  outages.close()
})

it('does not count one broken connection as an outage', async () => {
  const outages = createOutages(TIMES)
  let asked = 0
  outages.watch({ ask: async () => asked++ > 0 || Promise.reject(gone) })
  expect(await outages.explains(gone)).toBe(false)
  outages.close()
})

it('detects an outage even if late responses arrive during a probe', async () => {
  const outages = createOutages(TIMES)
  const answered = outages.begun(() => {})
  let asked = 0
  outages.watch({
    async ask() {
      if (asked++ === 0) answered()
      throw gone
    },
  })
  expect(await outages.explains(gone)).toBe(true)
  outages.close()
})

it('ends an outage when a new connection gets a response in time, not when late responses arrive', async () => {
  const outages = createOutages({ ...TIMES, answerWithinMs: 20 })
  const told: string[] = []
  let isQuick = false
  const asked = Promise.withResolvers<void>()
  const back = Promise.withResolvers<void>()
  let times = 0
  outages.watch({
    ask() {
      // During the outage, other statements get responses while this probe waits for its own.
      if (told.length > 0) outages.begun(() => {})()
      if (++times > 3) asked.resolve()
      return isQuick ? Promise.resolve() : new Promise(() => {})
    },
    onAway: () => told.push('away'),
    onBack() {
      told.push('back')
      back.resolve()
    },
  })
  outages.noticed(gone)
  await asked.promise
  isQuick = true
  await back.promise
  expect(told).toEqual(['away', 'back'])
  outages.close()
})
