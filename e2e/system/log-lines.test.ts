import { expect, it } from 'vitest'
import { ask, open } from '../../test/support/raw-http.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { readDemo, targetOf } from '../../test/support/target.ts'
import { metadata, newTus } from '../../test/support/tus.ts'

const FORGED = '{"level":30,"msg":"forged"}'
const EVIL = `a\n${FORGED}\r\n${FORGED}\u2028${FORGED}\u0085\u001b[2J`

it('keeps each log entry on one line, whatever a client sends', async () => {
  using folder = temporaryFolder()
  const sluice = await startSluice({ DATA_DIR: folder.path, LOG_LEVEL: 'debug', ACCESS_LOG: 'all' })
  const target = targetOf(readDemo(folder.path))
  const tus = await newTus(target, { metadata: { evil: EVIL } })
  await expect(target.token({ subject: EVIL })).rejects.toThrow('control characters')
  const names = metadata({ filename: EVIL, filetype: EVIL, evil: EVIL })
  const made = await tus.post({ 'Upload-Length': 2, 'Upload-Metadata': names }, 'ok')
  expect(made.status).toBe(201)
  const bytes = encodeURIComponent(EVIL)
  for (const path of [`/pipes/${bytes}/files/${bytes}`, `/api/v1/files/${bytes}`, `/${bytes}?${bytes}`])
    expect((await ask('GET', new URL(path, target.baseUrl))).status).toBeLessThan(500)
  const header = Buffer.from(EVIL)
    .toString('latin1')
    .replaceAll(/[\r\n\0]/g, '\t')
  for (const name of ['X-Request-Id', 'User-Agent', 'Referer', 'Origin', 'Authorization', 'X-Forwarded-For'])
    await tus.post({ 'Upload-Length': 1, [name]: header })
  for (const [path, body] of [
    ['/pipes', { name: EVIL, dataStoreId: target.dataStoreId, source: { http: true } }],
    ['/senders', { name: EVIL }],
    ['/pipes', { [EVIL]: EVIL }],
  ] as const)
    expect((await target.api('POST', path, body)).status).toBeLessThan(500)
  // Next logs unknown server actions.
  const unknown = { 'Next-Action': '0'.repeat(42), 'Content-Type': 'text/plain', Origin: target.baseUrl }
  expect((await ask('POST', new URL('/login', target.baseUrl), unknown, '[]')).status).toBeLessThan(500)
  // This is not HTTP.
  await using broken = open(new URL(target.baseUrl))
  broken.write(`${EVIL} / HTTP/1.1\r\n\r\n`)
  expect((await broken.answer('GET')).status).toBe(400)
  expect(await sluice.stop()).toBe(0)

  const lines = sluice.output().split(/\r\n|[\n\r\u2028\u0085]/)
  // Scripts wait for the line `ready`, which is the only one that is not JSON.
  const logged = lines.filter((line) => !/^(ready http.*)?$/.test(line))
  expect(logged.length).toBeGreaterThan(10)
  expect(logged.join('\n')).toContain('Server Action')
  for (const line of logged) {
    const said = JSON.parse(line)
    expect(said).toMatchObject({ level: expect.any(Number), service: 'sluice' })
    expect(said.msg).not.toBe('forged')
  }
})
