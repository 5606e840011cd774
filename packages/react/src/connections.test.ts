import { expect, it } from 'vitest'
import { Connections } from './connections.ts'

/** Sends for some seconds over a line whose rate depends on the number of connections. */
function sendOver(connections: Connections, rateOf: (count: number) => number, seconds: number, fromMs = 0) {
  for (let ms = fromMs; ms <= fromMs + seconds * 1000; ms += 100)
    connections.sent(rateOf(connections.limit) / 10, connections.limit, ms)
  return connections.limit
}

it('doubles the connections on a line that limits each of them, up to the most', () => {
  const eachAlone = (count: number) => count * 4e6
  expect(sendOver(new Connections(16), eachAlone, 2)).toBe(8)
  expect(sendOver(new Connections(16), eachAlone, 4)).toBe(16)
  expect(sendOver(new Connections(5), eachAlone, 20)).toBe(5)
})

it('returns to fewer connections once more of them hardly help', () => {
  expect(sendOver(new Connections(8), (count) => Math.min(count, 4.5) * 4e6, 20)).toBe(4)
})

it('keeps four connections on a line that one of them fills, and tries again half a minute later', () => {
  const connections = new Connections(8)
  expect(sendOver(connections, () => 4e6, 20)).toBe(4)
  expect(sendOver(connections, (count) => count * 4e6, 40, 21_000)).toBe(8)
})

it('takes a connection away when the server is busy, and keeps at least one', () => {
  const connections = new Connections(8)
  for (let times = 0; times < 5; times += 1) connections.refused(0)
  expect(connections.limit).toBe(1)
})

it('does not judge a connection that is not in use', () => {
  const connections = new Connections(8)
  for (let ms = 0; ms < 5000; ms += 100) connections.sent(1e6, 1, ms)
  expect(connections.limit).toBe(4)
})
