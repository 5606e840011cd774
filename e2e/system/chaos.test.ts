import { expect, it } from 'vitest'
import { createLog } from '../chaos/log.ts'
import { checkShares } from '../chaos/shares.ts'

/** Returns a node whose log shows how many requests of a thousand bytes each of its processes handled. */
function nodeOf(requests: number[]) {
  const line = (at: number) =>
    JSON.stringify({ process: `upload-${at + 1}`, route: '/pipes/:id/files/:id', bytesIn: 1000 })
  const lines = requests.flatMap((count, at) => Array.from({ length: count }, () => line(at)))
  return { output: () => ['not a log line', ...lines].join('\n') }
}

it.each([
  [[90, 100, 100, 130], []],
  [
    [90, 100, 100, 140],
    ['requests', 'bytes'],
  ],
  [
    [90, 100, 100, 0],
    ['requests', 'bytes'],
  ],
])(
  'reports, for processes that handled %j requests, the shares of %j as violations',
  (requests, expected) => {
    const log = createLog(() => {})
    checkShares({ nodes: [nodeOf(requests)] }, log, requests.length)
    expect(log.violations.map((text) => text.match(/shares of (\w+)/)?.[1])).toEqual(expected)
  },
)
