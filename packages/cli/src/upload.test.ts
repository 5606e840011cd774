import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startCli } from '../../../test/support/start-cli.ts'

const MiB = 1024 * 1024

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

type Moment = 'token' | 'creation'

/** Uploads a file that `change` changes when the server issues the token or has created the upload. */
async function uploadWhile(size: number, moment: Moment, change: (path: string) => void, more = {}) {
  const path = join(folder, 'film.mp4')
  writeFileSync(path, '')
  truncateSync(path, size)
  const server = createServer(async (req, res) => {
    const base = `http://${req.headers.host}`
    if (req.url === '/api/v1/tokens') {
      if (moment === 'token') change(path)
      const token = { token: 'tmp_x', uploadUrl: `${base}/files/`, expiresAt: '2100-01-01T00:00:00.000Z' }
      res.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify(token))
    } else if (req.method === 'POST') {
      if (moment === 'creation') change(path)
      const offset = Buffer.concat(await req.toArray()).length
      res.writeHead(201, { Location: `${base}/files/1`, 'Upload-Offset': offset }).end()
    } else if (req.method === 'HEAD')
      res.writeHead(200, { 'Upload-Offset': '0', 'Upload-Length': String(size) }).end()
    else req.resume()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const env = {
    SLUICE_CONFIG_DIR: folder,
    SLUICE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    SLUICE_PIPE_ID: 'pipe_a',
    SLUICE_SENDER_TOKEN: 'sk_x',
    ...more,
  }
  const child = startCli(['upload', path], env)
  child.stdout.resume()
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  server.close().closeAllConnections()
  return { code, said: said.replaceAll(path, 'film.mp4') }
}

it.each<[string, number, Moment]>([
  ['small file', 5, 'token'],
  ['large file', 20 * MiB, 'creation'],
])('fails if a %s disappears while it is uploaded, instead of retrying', async (_, size, moment) => {
  const { code, said } = await uploadWhile(size, moment, (path) => rmSync(path))
  // Otherwise, the next run would ask how far the bytes came that were never sent.
  if (moment === 'token')
    expect(readFileSync(join(folder, 'uploads.jsonl'), { encoding: 'utf8', flag: 'a+' })).toBe('')
  expect(said).toBe(
    "film.mp4: It cannot be read: ENOENT: no such file or directory, open 'film.mp4'\nThe file was not uploaded.\n",
  )
  expect(code).toBe(1)
})

it.each<[string, number, Moment]>([
  ['small file', 5, 'token'],
  ['large file', 20 * MiB, 'creation'],
])('fails if a %s is truncated while it is uploaded, instead of retrying', async (_, size, moment) => {
  const { code, said } = await uploadWhile(size, moment, (path) => truncateSync(path, 1))
  expect(said).toBe('film.mp4: It was truncated while it was read.\nThe file was not uploaded.\n')
  expect(code).toBe(1)
})

it('reads a small file once, for both its checksum and the request', async () => {
  const count = `import fs, { writeSync } from 'node:fs'
    const { open } = fs
    fs.open = (path, ...more) => {
      writeSync(2, 'opened ' + path + '\\n')
      open(path, ...more)
    }`
  const { code, said } = await uploadWhile(5, 'token', () => {}, {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(count)}`,
  })
  expect([code, said.match(/^opened film\.mp4$/gm)]).toEqual([0, ['opened film.mp4']])
})

it('repeats a creation without a response under the same key, even after it was killed', async () => {
  const notes = join(folder, 'notes')
  mkdirSync(notes)
  const path = join(notes, 'note.txt')
  writeFileSync(path, 'hello')
  const keys: unknown[] = []
  let child: ReturnType<typeof startCli>
  const losses = [() => {}, () => child.kill('SIGKILL'), () => child.kill('SIGKILL')]
  const server = createServer(async (req, res) => {
    const base = `http://${req.headers.host}`
    if (req.url === '/api/v1/tokens') {
      const token = { token: 'tmp_x', uploadUrl: `${base}/files/`, expiresAt: '2100-01-01T00:00:00.000Z' }
      return res.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify(token))
    }
    await req.toArray()
    keys.push(req.headers['idempotency-key'])
    const lose = losses.shift()
    if (!lose) return res.writeHead(201, { Location: `${base}/files/1`, 'Upload-Offset': 5 }).end()
    lose()
    req.socket.destroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const run = async (sent = path) => {
    child = startCli(['upload', sent], {
      SLUICE_CONFIG_DIR: folder,
      SLUICE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      SLUICE_PIPE_ID: 'pipe_a',
      SLUICE_SENDER_TOKEN: 'sk_x',
    })
    child.stdout.resume()
    child.stderr.resume()
    const [code, signal] = await once(child, 'close')
    return code ?? signal
  }
  expect([await run(), await run(notes), await run(), await run()]).toEqual(['SIGKILL', 'SIGKILL', 0, 0])
  server.close().closeAllConnections()
  const [first, second, ofFolder, third, ofAnotherRun] = keys
  expect(first).toEqual(expect.any(String))
  expect([second, third]).toEqual([first, first])
  expect(new Set([first, ofFolder, ofAnotherRun]).size).toBe(3)
})
