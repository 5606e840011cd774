import { DrizzleQueryError } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { createLogger } from '../lib/platform/log/log.ts'
import { captureConsole } from './capture-console.ts'

const lines: string[] = []
const target = {} as Console
captureConsole(createLogger('info', { write: (line) => void lines.push(line) }), target)
const said = () => lines.splice(0).map((line) => JSON.parse(line))

it('writes each message as one log line', () => {
  target.log(' ✓ Ready in', '28ms')
  target.warn('\u001b[33m⚠\u001b[39m several\nlines')
  target.info('')
  expect(said()).toMatchObject([
    { level: 30, msg: 'Ready in 28ms' },
    { level: 40, msg: 'several\nlines' },
  ])
})

it('omits the line about how long Next took to read its settings', () => {
  target.log(' ✓ Running next.config.ts took 28ms')
  target.log('Running next.config took 2ms')
  target.warn('Running next.config failed')
  expect(said()).toMatchObject([{ level: 40, msg: 'Running next.config failed' }])
})

it('writes an error as one line, with the digest that the error page shows and without query parameters', () => {
  const cause = new Error('connect ECONNREFUSED')
  const error = new DrizzleQueryError('select 1 where id = $1', ['the-session-id'], cause)
  target.error(' ⨯', Object.assign(error, { digest: '123' }))
  target.error(`⨯ Failed query: select 1\nparams: the-session-id\n    at there`)
  const all = said()
  expect(all).toMatchObject([
    { level: 50, msg: 'a page failed', err: { digest: '123', cause: { message: 'connect ECONNREFUSED' } } },
    { level: 50, msg: expect.stringContaining('Failed query') },
  ])
  expect(JSON.stringify(all)).not.toContain('the-session-id')
})
