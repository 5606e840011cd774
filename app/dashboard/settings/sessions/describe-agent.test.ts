import { expect, it } from 'vitest'
import { describeAgent } from './describe-agent.ts'

const chrome =
  'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0 Safari/537.36'

it.each([
  [chrome, 'Chrome on Windows'],
  [`${chrome} Edg/153.0`, 'Edge on Windows'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 20_0 like Mac OS X) Version/20.0 Mobile Safari/604.1',
    'Safari on iOS',
  ],
  ['curl/8.1', 'curl/8.1'],
  [null, 'Unknown'],
])('describes %s as %s', (userAgent, words) => {
  expect(describeAgent(userAgent)).toBe(words)
})
