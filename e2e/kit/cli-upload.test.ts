import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFlippingProxy } from '../../test/support/http-proxies.ts'
import { longUnless } from '../../test/support/long.ts'
import { demo, home, installCli, pipeId, removeCli, run, sluice, start } from './installed-cli.ts'

/** Runs `sluice upload`, and kills it in the middle. */
beforeAll(installCli)
afterAll(removeCli)

const MIB = 1024 * 1024

const filesOfPipe = async () => {
  const found = []
  for await (const file of sluice.listFiles({ pipeId, limit: 100 })) found.push(file)
  return found
}

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
    const line = await openFlippingProxy(demo.baseUrl)
    const path = join(home.path, 'film.bin')
    writeFileSync(path, randomBytes(30 * MIB))
    const args = ['upload', path, '--pipe', pipeId]
    const more = { SLUICE_URL: line.url, SLUICE_SENDER_TOKEN: demo.senderToken }
    const state = async () => (await filesOfPipe()).filter(({ filename }) => filename === 'film.bin')
    for (const [resumes, stopAt] of [12 * MIB, 24 * MIB].entries()) {
      line.stopAt = stopAt
      const running = start(args, more)
      const isUnderWay = async () => {
        const [file] = await state()
        return line.stalled > 0 && file !== undefined && file.offset > 0 && file.resumeCount >= resumes
      }
      await expect.poll(isUnderWay).toBe(true)
      await running.kill()
      line.cut()
      expect((await state())[0]!.status).toBe('uploading')
    }
    line.stopAt = Number.POSITIVE_INFINITY
    const { code, stderr } = await run(args, { more })
    expect([code, stderr]).toEqual([0, expect.stringContaining('100%')])
    const [file, ...others] = await state()
    expect([file!.status, file!.offset, others]).toEqual(['transferred', 30 * MIB, []])
    expect(await hashOf(inBucket('/film.bin'))).toBe(await hashOf(path))
    expect(file!.resumeCount).toBe(2)
    expect(line.passedBytes).toBeLessThan(31 * MIB)
    line.close()
  })

  for (const [what, flipAt, killAt] of [
    ['the first request', 0, undefined],
    ['the last request', 19 * MIB, undefined],
    ['the bytes sent before a kill', 5 * MIB, 12 * MIB],
    ['the bytes sent after a kill', 18 * MIB, 12 * MIB],
  ] as const) {
    const title = `creates no object and reports why if a byte of ${what} changes in transit`
    it(title, longUnless(flipAt === 5 * MIB), async () => {
      const line = await openFlippingProxy(demo.baseUrl)
      const name = `flipped ${flipAt}.bin`
      const path = join(home.path, name)
      writeFileSync(path, randomBytes(20 * MIB))
      const state = async () => (await filesOfPipe()).find(({ filename }) => filename === name)
      const args = ['upload', path, '--pipe', pipeId]
      const more = { SLUICE_URL: line.url, SLUICE_SENDER_TOKEN: demo.senderToken }
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
  }

  it('sends a large file over several connections, and goes on in each of them when all are cut', {
    tags: 'long',
  }, async () => {
    const line = await openFlippingProxy(demo.baseUrl)
    const path = join(home.path, 'large.bin')
    writeFileSync(path, randomBytes(40 * MIB))
    const more = { SLUICE_URL: line.url, SLUICE_SENDER_TOKEN: demo.senderToken }
    const sending = run(['upload', path, '--pipe', pipeId], { more })
    for (const stopAt of [MIB, 4 * MIB, 7 * MIB]) {
      line.stopAt = stopAt
      await expect.poll(() => line.stalled, { timeout: 20_000 }).toBeGreaterThanOrEqual(2)
      line.cut()
    }
    line.stopAt = Number.POSITIVE_INFINITY
    expect((await sending).code).toBe(0)
    const file = (await filesOfPipe()).find(({ filename }) => filename === 'large.bin')!
    expect([file.status, file.declaredChecksum]).toEqual(['transferred', file.checksum])
    expect(await hashOf(inBucket('/large.bin'))).toBe(await hashOf(path))
    expect(line.passedBytes).toBeLessThan(40 * MIB * 1.1)
    line.close()
  })

  it('uploads a folder, sixteen files at a time, and resends none after a kill', async () => {
    const folder = join(home.path, 'photos')
    mkdirSync(join(folder, 'été'), { recursive: true })
    for (let n = 0; n < 120; n++)
      writeFileSync(join(folder, n % 2 ? 'été' : '', `photo ${n}.txt`), `photo ${n}`)
    const running = start(['upload', folder, '--pipe', pipeId, '--json'])
    await expect.poll(() => running.said().split('\n').length).toBeGreaterThan(20)
    await running.kill()
    expect((await run(['upload', folder, '--pipe', pipeId])).code).toBe(0)
    const files = (await filesOfPipe()).filter(({ filename }) => filename.startsWith('photo '))
    const names = files.map(({ filename }) => filename)
    expect(new Set(names).size).toBe(120)
    const paths = files.map(({ uploadMetadata }) => uploadMetadata.relativePath)
    expect(paths).toEqual(expect.arrayContaining(['photos/photo 0.txt', 'photos/été/photo 1.txt']))
    // Only files in flight when the command was killed may have been created twice.
    expect(names.length).toBeLessThanOrEqual(136)
  })

  it("sends each file's type, derived from its name, so a Pipe can limit the types", async () => {
    const http = { http: true }
    const fields = { name: 'Films', dataStoreId: demo.dataStoreId, source: http, allowedTypes: ['video/*'] }
    const { id } = await sluice.createPipe(fields)
    const [film, notes] = [join(home.path, 'film.mp4'), join(home.path, 'notes.txt')]
    writeFileSync(film, 'film')
    writeFileSync(notes, 'notes')
    const { code, stderr } = await run(['upload', film, notes, '--pipe', id])
    expect(code, stderr).toBe(1)
    expect(stderr).toContain('notes.txt: 403 Files of type text/plain are not allowed.')
    const { data } = await sluice.listFiles({ pipeId: id })
    expect(data).toMatchObject([{ filename: 'film.mp4', filetype: 'video/mp4', status: 'transferred' }])
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
    expect(stderr).toContain('1 of 2 files was not uploaded')
  })
})
