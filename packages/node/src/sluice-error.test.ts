import { expect, it } from 'vitest'
import { noAnswer } from './sluice-error.ts'

const failed = (cause: unknown) => new TypeError('fetch failed', { cause })
const refused = new Error('connect ECONNREFUSED 127.0.0.1:3000')
const both = Object.assign(new AggregateError([refused, refused]), { code: 'ECONNREFUSED' })

it.each([
  [failed(refused), 'connect ECONNREFUSED 127.0.0.1:3000'],
  [failed(both), 'ECONNREFUSED'],
  [new Error('The stream ended.'), 'The stream ended.'],
])('names the host, and why it did not respond: %s', (cause, reason) => {
  const { code, message } = noAnswer(
    cause,
    'https://me:secret@sluice.example.com:3000/api/v1/pipes?key=secret',
  )
  expect([code, message]).toEqual([
    'no_answer',
    `Sluice at sluice.example.com:3000 did not respond: ${reason}`,
  ])
})
