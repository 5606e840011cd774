import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { StartError } from '../kernel/errors.ts'
import { explainFolder, sayFault } from './say-fault.ts'

async function listening(port: number, host: string) {
  const server = createServer().listen(port, host)
  await once(server, 'listening')
  return server
}

it('reports a port that is in use', async () => {
  const first = await listening(0, '127.0.0.1')
  const { port } = first.address() as { port: number }
  const error = await listening(port, '127.0.0.1').catch((error: unknown) => error)
  expect(sayFault(error)).toBe(
    `Port ${port} is in use by another process. Stop it, or set PORT to a different port; PORT=0 picks a free one.`,
  )
  first.close()
})

it("reports an address that is not this machine's", async () => {
  const error = await listening(0, '192.0.2.1').catch((error: unknown) => error)
  expect(sayFault(error)).toBe(
    'HOST is 192.0.2.1, which is not an address of this machine. Set HOST to one that is.',
  )
})

const coded = (code: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { code, ...more })

it.each([
  [
    coded('ENOSPC', 'no space left on device', { path: '/data/x' }),
    /^Sluice cannot use \/data\/x: its disk is full\. Free/,
  ],
  [
    coded('EROFS', 'read-only', { path: '/data/x' }),
    /^Sluice cannot use \/data\/x: its file system is read-only/,
  ],
  [
    coded('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1'),
    /^The database is not responding .*DATABASE_URL/,
  ],
  [coded('28P01', 'password authentication failed for user "a"'), /^The database refused.*DATABASE_URL/],
  [coded('53100', 'could not extend file'), /^The database's disk is full/],
  [new StartError('Do this.'), /^Do this\.$/],
])('says in one line what to do, even about the cause of another error: %s', (error, sentence) => {
  for (const thrown of [error, new Error('Failed query: select 1', { cause: error })]) {
    expect(sayFault(thrown)).toMatch(sentence)
    expect(sayFault(thrown)).not.toContain('\n')
  }
})

it.each([
  ['initdb: error: could not create directory "/d": No space left on device', 'its disk is full'],
  ['could not create lock file: Read-only file system', 'its file system is read-only'],
  ['unable to open database file', 'this user cannot write there'],
])('recognizes the message of a program that could not use a folder: %s', (stderr, words) => {
  const failed = Object.assign(new Error('Command failed'), { code: 1, stderr })
  expect(explainFolder('/d', failed).message).toContain(`Sluice cannot use /d: ${words}.`)
})

it('returns an error that already says what to do unchanged', () => {
  const said = new StartError('Do this.')
  expect(explainFolder('/d', said)).toBe(said)
})

it('shows the stack trace of a bug in Sluice', () => {
  expect(sayFault(new TypeError('x is not a function'))).toContain('    at ')
})
