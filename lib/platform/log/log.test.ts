import { DrizzleQueryError } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { newSecret, newWebhookSecret } from '../kernel/ids.ts'
import { createLogger } from './log.ts'

const lines: string[] = []
const log = createLogger('debug', { write: (line: string) => void lines.push(line) })

it("escapes characters that would control the reader's terminal", () => {
  const evil = '\u001b]0;PWNED\u0007 \u009b2J \u202egpj.exe\u007f'
  const written: string[] = []
  createLogger('info', { write: (line) => void written.push(line) }).info({ filename: evil }, evil)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain these.
  expect(written[0]).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  expect(JSON.parse(written[0]!)).toMatchObject({ filename: evil, msg: evil })
})

it('redacts secrets wherever they appear', () => {
  const secrets = [
    newSecret('sk_'),
    newSecret('tmp_'),
    newSecret('ak_'),
    newWebhookSecret(),
    'hunter2hunter2',
    'c2lnbmF0dXJlLW9mLWEtc2FzLW9mLWF6dXJl',
  ]
  const [sk, tmp, ak, whsec, password, sig] = secrets as [string, string, string, string, string, string]
  log.info({ headers: { authorization: `Bearer ${sk}` } }, 'in a header')
  log.info({ req: { headers: { Authorization: 'Bearer hunter2hunter2', cookie: password } } }, 'deeper')
  log.info({ token: tmp, password, secretAccessKey: password }, 'a field')
  log.warn({ url: `https://x.example/?token=${tmp}` }, `in a message: ${ak}`)
  log.warn({ sasToken: sig, storageAccountKey: sig }, `in an address: /uploads/a?sv=2022&sig=${sig}&sp=cw`)
  log.error(
    { err: new Error(`boom ${whsec}`, { cause: new Error(`postgres://user:${password}@host/db`) }) },
    'in an error',
  )
  const text = lines.join('')
  for (const secret of secrets) expect(text).not.toContain(secret)
  expect(text).toContain('[redacted]')
  expect(lines).toHaveLength(6)
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('msg')
})

it('leaves out a failed query with its parameters, and keeps the cause and the stack', () => {
  lines.length = 0
  const error = new DrizzleQueryError(
    'insert into t values ($1, $2)',
    ['sealed\nsecret', 7],
    new Error('down'),
  )
  log.error({ err: error }, 'failed')
  const { err } = JSON.parse(lines[0]!)
  expect(lines[0]).not.toContain('sealed')
  expect(err.message).toBe('Failed query [left out]')
  expect(err.stack).toContain('log.test.ts')
  expect(err.cause.message).toBe('down')
})
