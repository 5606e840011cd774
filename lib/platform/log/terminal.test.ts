import { expect, it } from 'vitest'
import { createLogger } from './log.ts'

const lines: string[] = []
const log = createLogger('debug', { isTerminal: true, write: (line) => void lines.push(line) })

function written(write: () => void): string[] {
  lines.length = 0
  write()
  expect(lines).toHaveLength(1)
  return lines[0]!.split('\n')
}

it('shows people the time, the level, the message and the fields on one line', () => {
  const [line, ...more] = written(() => log.warn({ port: 2222, sweep: 'old events' }, 'it says "swept"'))
  expect(line).toMatch(/^\d\d:\d\d:\d\dZ warn {2}it says "swept" port=2222 sweep="old events"$/)
  expect(more).toEqual([''])
})

it('shows the stack of an error, with its code and its cause, below the line', () => {
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  const [line, first, ...stack] = written(() => log.error({ err: new Error('down', { cause }) }, 'failed'))
  expect(line).toMatch(/Z error failed$/)
  expect(first).toBe('  Error: down')
  expect(stack[0]).toMatch(/^ {6}at .*terminal\.test\.ts/)
  expect(stack).toContain('  Caused by: Error: refused')
  expect(stack).toContain('      code="ECONNREFUSED"')
})

it('lets no value forge a line, control the terminal or show a secret', () => {
  const evil = 'a\n12:00:00Z info  forged\u001b[2J\u009b2J\u202egpj\u2028"'
  const err = { stack: `Error: ${evil}\n    at x\u001b[2J`, code: evil }
  const [line, ...below] = written(() => log.info({ [evil]: evil, token: 'hunter2', err }, evil))
  expect(line).toContain('token="[redacted]"')
  const text = [line, ...below].join('\n')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain these.
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/)
  // Only a stack has several lines, and each is indented.
  expect(below.filter((one) => one !== '' && !one.startsWith('  '))).toEqual([])
})
