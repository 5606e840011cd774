import { expect, it } from 'vitest'
import { seconds } from '../platform/kernel/clock.ts'
import { createLogger } from '../platform/log/log.ts'
import { createMetrics } from '../platform/metrics.ts'
import { Refusals } from './refusals.ts'

it('counts every refusal, but logs at most one line a minute for each reason', async () => {
  let nowMs = 0
  const lines: Record<string, unknown>[] = []
  const metrics = createMetrics()
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) })
  const refusals = new Refusals(
    { clock: { now: () => nowMs }, log },
    { protocol: 'sftp', counter: metrics.sftpRefusals },
  )
  const pass = (ms: number) => {
    nowMs += ms
    refusals.look(nowMs)
  }

  for (let n = 1; n <= 1000; n++) refusals.count('signing_in', `203.0.113.${n % 100}`)
  refusals.count('password', '198.51.100.7')
  expect(lines).toMatchObject([
    { reason: 'signing_in', client: '203.0.113.1', msg: 'sftp: refused' },
    { reason: 'password', client: '198.51.100.7', msg: 'sftp: refused' },
  ])
  pass(seconds(59))
  expect(lines).toHaveLength(2)
  pass(seconds(1))
  expect(lines.slice(2)).toMatchObject([
    { reason: 'signing_in', more: 999, lastClient: '203.0.113.0', msg: 'sftp: refused more' },
  ])
  // After a minute without refusals, the next one is logged immediately again.
  refusals.count('password', '198.51.100.8')
  pass(seconds(60))
  refusals.count('signing_in', '203.0.113.1')
  expect(lines.slice(3)).toMatchObject([
    { reason: 'password', client: '198.51.100.8' },
    { reason: 'signing_in', client: '203.0.113.1', msg: 'sftp: refused' },
  ])
  const { values } = await metrics.sftpRefusals.get()
  expect(values.map(({ labels, value }) => [labels.reason, value])).toEqual([
    ['signing_in', 1001],
    ['password', 2],
  ])
})
