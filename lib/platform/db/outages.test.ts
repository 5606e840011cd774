import { stat } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { createOutages } from './outages.ts'

const TIMES = { suspectAfterMs: 1, answerWithinMs: 400, askEveryMs: 10 }
const gone = Object.assign(new Error('gone'), { code: 'ECONNREFUSED', query: 'select 1' })

function block(ms: number): void {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs);
}

it('takes a process that is too busy to hear the answer for no outage', async () => {
  const outages = createOutages(TIMES)
  outages.watch({
    async ask() {
      // Each answer of the connection is there, and waits for this process.
      for (let step = 0; step < 5; step++) {
        await stat('/')
        block(TIMES.answerWithinMs / 2)
      }
    },
  })
  expect(await outages.explains(gone)).toBe(false)
  outages.close()
})

it('takes a database that does not answer for one', async () => {
  const outages = createOutages(TIMES)
  outages.watch({ ask: () => new Promise(() => {}) })
  expect(await outages.explains(gone)).toBe(true)
  outages.close()
})

it('tells nothing of what fails just after its end', async () => {
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
