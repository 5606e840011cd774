import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createSluice } from '../../packages/node/src/client.ts'
import { unwrap } from '../../packages/node/src/webhooks.ts'
import { runCli } from '../../test/support/cli-program.ts'
import { openFlippingProxy } from '../../test/support/flipping-proxy.ts'
import { installPacked, type PackedKit } from '../../test/support/packed-kit.ts'
import { temporaryFolder } from '../../test/support/sluice.ts'
import { OCTETS, tusWith } from '../../test/support/tus.ts'
import { endWithThisProcess } from '../../test/support/until-exit.ts'

/** Runs the installed command-line tool against a Sluice server. */
const MIB = 1024 * 1024
const demo = inject('demo')
const { baseUrl, accountKey, senderToken } = demo
const sluice = createSluice({ baseUrl, accountKey, senderToken })
const home = temporaryFolder()
let kit: PackedKit
let pipeId: string
beforeAll(async () => {
  kit = installPacked('cli')
  const fields = { name: 'Command line', dataStoreId: demo.dataStoreId, source: { http: true } }
  pipeId = (await sluice.createPipe(fields)).id
  await run(['login', '--url', baseUrl], { input: accountKey })
})
afterAll(() => {
  kit.remove()
  home[Symbol.dispose]()
})

const program = () => join(kit.folder, 'node_modules/@sluice/cli/dist/sluice.js')
const env = (more: Record<string, string> = {}) =>
  ({ PATH: process.env.PATH, HOME: home.path, SLUICE_CONFIG_DIR: join(home.path, 'kept'), ...more }) as never

const run = (args: string[], { input = '', more = {} } = {}) =>
  runCli(program(), args, { input, env: env(more) })

function start(
  args: string[],
  more?: Record<string, string>,
): { child: ChildProcess; said(): string; kill(): Promise<void> } {
  const child = spawn(process.execPath, [program(), ...args], {
    env: env(more),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithThisProcess(child)
  let text = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (text += chunk))
  return {
    child,
    said: () => text,
    async kill() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

async function sendFile(to = pipeId): Promise<string> {
  const { token, uploadUrl } = await sluice.issueToken({ pipeId: to })
  const { headers } = await tusWith(token, uploadUrl).post(
    { 'Upload-Length': 1, 'Content-Type': OCTETS },
    'x',
  )
  return headers.location!.split('/').at(-1)!
}

const filesOfPipe = async () => {
  const found = []
  for await (const file of sluice.listFiles({ pipeId, limit: 100 })) found.push(file)
  return found
}

it('contains one program, its README and its license, without secrets or paths from the build machine', () => {
  expect(kit.files.sort()).toEqual(['LICENSE', 'README.md', 'dist/sluice.js', 'package.json'])
  const text = readFileSync(program(), 'utf8')
  expect(text).not.toContain(process.cwd())
  expect(text).not.toMatch(/sourceMappingURL|\b(sk|tmp|ak|whsec)_[\w+/]{20,}/)
})

it('stores its settings in a file that nobody else can read, and reads the key from standard input', () => {
  const file = join(home.path, 'kept/settings.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ baseUrl, accountKey })
})

it.each([
  ['the command is unknown', ['nothing'], {}, 2],
  ['an option is unknown', ['doctor', '--nothing'], {}, 2],
  ['a file is missing', ['upload', '/nowhere'], {}, 2],
  ['the key is refused', ['doctor'], { SLUICE_ACCOUNT_KEY: 'ak_nobody' }, 3],
  ['Sluice is down', ['doctor'], { SLUICE_URL: 'http://127.0.0.1:1' }, 4],
])('reports with its exit code that %s', async (_, args, more, code) => {
  const ran = await run(args, { more })
  expect([ran.code, ran.stdout]).toEqual([code, ''])
  expect(ran.stderr).not.toMatch(/^ {4}at /m)
})

it("prints a command's usage on request", async () => {
  const { code, stderr } = await run(['upload', '--help'])
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^Usage: sluice upload /)])
})

it('checks each bucket again, and reports problems', async () => {
  const show = () => sluice.showDataStore({ id: demo.dataStoreId })
  const { name, check, ...bucket } = await show()
  const elsewhere = { ...bucket, name: 'Elsewhere', bucket: 'nowhere', secretAccessKey: 'x' }
  const { id } = await sluice.createDataStore(elsewhere)
  const { code, stdout } = await run(['doctor', '--json'])
  const findings: { what: string }[] = JSON.parse(stdout).findings
  expect(findings).toContainEqual({ ok: true, what: `Data Store ${name}` })
  expect((await show()).check?.checkedAt).not.toBe(check?.checkedAt)
  const found = findings.find(({ what }) => what === 'Data Store Elsewhere')
  expect([code, found]).toMatchObject([1, { ok: false, advice: expect.stringContaining('Put') }])
  await sluice.deleteDataStore({ id })
})

it('resends a webhook', async () => {
  const got: string[] = []
  const receiver = createServer((req, res) => {
    got.push(String(req.headers['webhook-id']))
    res.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const fields = { name: 'Resent', dataStoreId: demo.dataStoreId, source: { http: true } }
  const pipe = await sluice.createPipe(fields)
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  await sluice.saveWebhookOutput({ id: pipe.id, url, enabled: true, statuses: [] })
  await sendFile(pipe.id)
  await expect.poll(() => got).toHaveLength(1)
  const delivery = async () => (await sluice.listDeliveries({ pipeId: pipe.id })).data[0]
  await expect.poll(delivery).toMatchObject({ state: 'delivered' })
  const { id } = (await delivery())!
  const sent = await run(['resend', id, '--json'])
  expect([sent.code, JSON.parse(sent.stdout)]).toMatchObject([0, { id }])
  await expect.poll(() => got).toEqual([got[0], got[0]])
  const since = ['resend', '--failed-since', '2026-01-01T00:00:00Z', '--pipe', pipe.id, '--json']
  expect(JSON.parse((await run(since)).stdout)).toMatchObject({ resent: 0 })
  receiver.close()
})

it('creates a token with its own Sender', async () => {
  const { stdout } = await run(['tokens', 'create', '--pipe', pipeId, '--subject', 'ada', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ token: expect.stringMatching(/^tmp_/), pipeId })
})

describe('listen', () => {
  /** Opens a user's program, whose port stays the same when it is restarted. */
  async function openProgram() {
    const got: { id: string; body: string; headers: Record<string, string> }[] = []
    let port = 0
    const open = async () => {
      const server = createServer((req, res) => {
        let body = ''
        req.on('data', (chunk) => (body += chunk))
        req.on('end', () => {
          got.push({
            id: JSON.parse(body).data.file_id,
            body,
            headers: req.headers as Record<string, string>,
          })
          res.writeHead(204, { Connection: 'close' }).end()
        })
      }).listen(port, '127.0.0.1')
      await once(server, 'listening')
      port = (server.address() as AddressInfo).port
      return async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    }
    return { got, open, url: () => `http://127.0.0.1:${port}/hook` }
  }

  it('misses no event when it or the program behind it is killed, and signs like Sluice', async () => {
    const before = (await sluice.listDeliveries({ pipeId })).data.length
    const program = await openProgram()
    const close = await program.open()
    const args = ['listen', '--forward-to', program.url(), '--pipe', pipeId]
    const early = start(args)
    await expect.poll(early.said).toContain('Listening')
    await early.kill()
    const sent = [await sendFile()]
    const first = start(args)
    const arrived = () => program.got.map(({ id }) => id)
    await expect.poll(arrived).toEqual(sent)
    await close()
    sent.push(await sendFile())
    await expect.poll(first.said).toContain('cannot be reached')
    const closeAgain = await program.open()
    await expect.poll(arrived).toEqual(sent)
    await expect.poll(() => first.said().match(/^204 /gm)?.length).toBe(2)
    await first.kill()
    sent.push(await sendFile(), await sendFile())
    const second = start(args)
    await expect.poll(() => new Set(arrived())).toEqual(new Set(sent))
    await second.kill()
    const secret = first.said().match(/whsec_\S+(?=,)/)![0]
    expect(second.said()).toContain(secret)
    for (const { body, headers } of program.got) {
      expect(await unwrap(body, headers, secret)).toEqual(JSON.parse(body))
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
    }
    expect((await sluice.listDeliveries({ pipeId })).data).toHaveLength(before)
    await closeAgain()
  })

  it('forwards the requested kinds of events, and names unknown kinds', async () => {
    const { id } = await sluice.createPipeOutput({
      id: pipeId,
      url: 'http://127.0.0.1:1/',
      events: ['file.created'],
    })
    const program = await openProgram()
    const close = await program.open()
    const args = ['listen', '--forward-to', program.url(), '--pipe', pipeId]
    const running = start([...args, '--events', 'file.created, file.status_changed', '--from-now', '--json'])
    await expect.poll(running.said).toContain('Listening')
    const sent = await sendFile()
    const kinds = () => program.got.map(({ body }) => JSON.parse(body).event)
    await expect.poll(kinds).toEqual(['file.created', 'file.status_changed'])
    expect(program.got.map(({ id }) => id)).toEqual([sent, sent])
    const printed = () =>
      running
        .said()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line))
    await expect.poll(() => printed().map(({ event }) => event)).toEqual(kinds())
    await running.kill()
    await close()
    const unknown = await run([...args, '--events', 'file.eaten'])
    expect(unknown.stderr).toContain('file.created')
    expect(unknown.code).not.toBe(0)
    await sluice.deleteOutput({ id })
  })

  it('sends a sample event, and explains an invalid signature', async () => {
    const program = await openProgram()
    const close = await program.open()
    expect((await run(['trigger', 'failed', '--forward-to', program.url()])).code).toBe(0)
    const [{ body, headers }] = program.got as [(typeof program.got)[0]]
    writeFileSync(join(home.path, 'headers.json'), JSON.stringify(headers))
    writeFileSync(join(home.path, 'body.json'), body)
    const files = ['--headers', join(home.path, 'headers.json'), '--body', join(home.path, 'body.json')]
    expect(JSON.parse((await run(['verify', ...files, '--json'])).stdout)).toMatchObject({ valid: true })
    writeFileSync(join(home.path, 'body.json'), `${body}\n`)
    const changed = await run(['verify', ...files, '--json'])
    expect([changed.code, JSON.parse(changed.stdout)]).toEqual([1, { valid: false, reason: 'mismatch' }])
    await close()
  })
})

describe('upload', () => {
  it.each([
    ['of a known length', 3 * MIB, true],
    ['whose length its backend left open', 3 * MIB, false],
    ['of zero bytes, whose length its backend left open', 0, false],
  ])('sends a file to an upload %s', async (_, size, isKnown) => {
    const file = join(home.path, `prepared-${size}.bin`)
    writeFileSync(file, randomBytes(size))
    const asked = { pipeId, filename: 'prepared.bin', ...(isKnown && { size }) }
    const { uploadUrl, token, file: made } = await sluice.createUpload(asked)
    const sent = await run(['upload', file, '--to', uploadUrl, '--json'], {
      more: { SLUICE_UPLOAD_TOKEN: token },
    })
    expect([sent.code, sent.stderr]).toEqual([0, expect.anything()])
    expect(JSON.parse(sent.stdout.trim().split('\n').at(-1)!)).toMatchObject({ fileId: made.id, size })
    expect(await sluice.showFile({ id: made.id })).toMatchObject({
      status: 'transferred',
      filename: 'prepared.bin',
      size,
    })
    const without = await run(['upload', file, '--to', uploadUrl])
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('SLUICE_UPLOAD_TOKEN')])
  })

  const hashOf = async (path: string) => {
    const hash = createHash('sha256')
    await pipeline(createReadStream(path), hash)
    return hash.digest('hex')
  }
  const inBucket = (name: string) => {
    const all = readdirSync(demo.bucket.directory, { recursive: true, encoding: 'utf8' })
    return join(demo.bucket.directory, all.find((path) => path.endsWith(name))!)
  }

  it('resumes at the exact byte after being killed twice', async () => {
    const path = join(home.path, 'film.bin')
    writeFileSync(path, Buffer.alloc(400_000_000, 'sluice '))
    const args = ['upload', path, '--pipe', pipeId]
    const state = async () => (await filesOfPipe()).filter(({ filename }) => filename === 'film.bin')
    for (const resumes of [0, 1]) {
      const running = start(args)
      const isUnderWay = async () => {
        const [file] = await state()
        return file !== undefined && file.offset > 0 && file.resumeCount === resumes
      }
      await expect.poll(isUnderWay).toBe(true)
      await running.kill()
      expect((await state())[0]!.status).toBe('uploading')
    }
    const { code, stderr } = await run(args)
    expect([code, stderr]).toEqual([0, expect.stringContaining('100 %')])
    const [file, ...others] = await state()
    expect([file!.status, file!.offset, others]).toEqual(['transferred', 400_000_000, []])
    expect(await hashOf(inBucket('/film.bin'))).toBe(await hashOf(path))
    expect(file!.resumeCount).toBe(2)
  })

  it.each([
    ['the first request', 0, undefined],
    ['the last request', 19 * MIB, undefined],
    ['the bytes sent before a kill', 5 * MIB, 12 * MIB],
    ['the bytes sent after a kill', 18 * MIB, 12 * MIB],
  ])('creates no object and reports why if a byte of %s changes in transit', async (_, flipAt, killAt) => {
    const line = await openFlippingProxy(baseUrl)
    const name = `flipped ${flipAt}.bin`
    const path = join(home.path, name)
    writeFileSync(path, randomBytes(20 * MIB))
    const state = async () => (await filesOfPipe()).find(({ filename }) => filename === name)
    const args = ['upload', path, '--pipe', pipeId]
    const more = { SLUICE_URL: line.url }
    line.flipAt = flipAt
    if (killAt !== undefined) {
      line.stopAt = killAt
      const running = start(args, more)
      await expect.poll(async () => (await state())?.offset ?? 0).toBeGreaterThan(0)
      await running.kill()
      line.stopAt = Number.POSITIVE_INFINITY
    }
    const { code, stderr } = await run(args, { more })
    expect([code, stderr]).toEqual([1, expect.stringContaining('460 The file was declared with the crc32')])
    expect(await state()).toMatchObject({ status: 'failed', failureReason: 'checksum_mismatch' })
    line.flipAt = Number.POSITIVE_INFINITY
    expect((await run(args, { more })).code).toBe(0)
    const again = (await state())!
    expect([again.status, again.declaredChecksum]).toEqual(['transferred', again.checksum])
    line.close()
  })

  it('uploads a folder, sixteen files at a time, and resends none after a kill', async () => {
    const folder = join(home.path, 'photos')
    mkdirSync(join(folder, 'été'), { recursive: true })
    for (let n = 0; n < 300; n++)
      writeFileSync(join(folder, n % 2 ? 'été' : '', `photo ${n}.txt`), `photo ${n}`)
    const running = start(['upload', folder, '--pipe', pipeId, '--json'])
    await expect.poll(() => running.said().split('\n').length).toBeGreaterThan(20)
    await running.kill()
    expect((await run(['upload', folder, '--pipe', pipeId])).code).toBe(0)
    const files = (await filesOfPipe()).filter(({ filename }) => filename.startsWith('photo '))
    const names = files.map(({ filename }) => filename)
    expect(new Set(names).size).toBe(300)
    const paths = files.map(({ uploadMetadata }) => uploadMetadata.relativePath)
    expect(paths).toEqual(expect.arrayContaining(['photos/photo 0.txt', 'photos/été/photo 1.txt']))
    // Only files in flight when the command was killed may have been created twice.
    expect(names.length).toBeLessThanOrEqual(316)
  })

  it('names the refused file, and sends the others', async () => {
    const small = await sluice.createPipe({
      name: 'Small',
      dataStoreId: demo.dataStoreId,
      source: { http: true },
      maxFileBytes: 10,
    })
    const [fits, large] = [join(home.path, 'fits.txt'), join(home.path, 'large.txt')]
    writeFileSync(fits, 'fits')
    writeFileSync(large, 'far too large')
    const { code, stdout, stderr } = await run(['upload', fits, large, '--pipe', small.id, '--json'])
    expect([
      code,
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).file),
    ]).toEqual([1, [fits]])
    expect(stderr).toMatch(/large\.txt: 413 /)
    expect(stderr).toContain('1 of 2 were not uploaded')
  })
})
