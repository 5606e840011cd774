/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { mountSmallDisk } from '../../test/support/small-disk.ts'
import { readDemo, targetOf } from '../../test/support/target.ts'
import { fileIdOf, openPatch, type TusReply, tusClient } from '../../test/support/tus-client.ts'

const MiB = 1024 * 1024
/** Smaller than the smallest part, so that it waits in the database. */
const PIECE = 4 * MiB
const UPLOADS = 12
const NO_MOUNT = 'This user may not mount a small file system.'

it("responds with 503 while the embedded database's disk is full, and loses nothing", async ({ skip }) => {
  using disk = mountSmallDisk(256)
  if (!disk) return skip(NO_MOUNT)
  const dataDir = join(disk.path, 'data')
  const sluice = await startSluice({ DATA_DIR: dataDir, FREE_TIER_BYTES: '0' })
  const target = targetOf(readDemo(dataDir))
  const { token } = await target.token()
  const client = tusClient({ url: sluice.baseUrl, pipeId: target.pipeId, token })
  const content = randomBytes(2 * PIECE)
  const urls: string[] = []
  for (let n = 0; n < UPLOADS; n++) urls.push(await client.begin(content.length))

  disk.fill()
  const answers: TusReply[] = []
  for (const url of urls) answers.push(await client.patch(url, 0, content.subarray(0, PIECE)))
  const refused = answers.filter(({ status }) => status !== 204)
  expect(refused.length).toBeGreaterThan(0)
  for (const { status, headers, body } of refused) {
    expect(status, body).toBe(503)
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  }

  disk.free()
  for (const url of urls) {
    const goOn = async () => {
      const { status, headers } = await client.head(url)
      const offset = Number(headers['upload-offset'])
      if (status !== 200) return status
      return offset === content.length || (await client.patch(url, offset, content.subarray(offset))).status
    }
    await expect.poll(goOn).toBe(204)
  }
  expect(await sluice.stop()).toBe(0)
})

it.for(['1', '2'])(
  'keeps serving while the disk under its log is full, and logs what happened once there is room (PROCESSES=%s)',
  async (PROCESSES, { skip }) => {
    using disk = mountSmallDisk(8)
    if (!disk) return skip(NO_MOUNT)
    using folder = temporaryFolder()
    const env = { DATA_DIR: folder.path, PROCESSES, ACCESS_LOG: 'all' }
    const sluice = await startSluice(env, undefined, { logFile: join(disk.path, 'log') })
    const target = targetOf(readDemo(folder.path))
    const { token } = await target.token()
    const client = tusClient({ url: sluice.baseUrl, pipeId: target.pipeId, token })
    const content = randomBytes(2 * PIECE)
    const url = await client.begin(content.length)
    const open = openPatch(client, url, { offset: 0, length: content.length })
    await open.write(content.subarray(0, PIECE))

    disk.fill()
    for (let n = 0; n < UPLOADS; n++) {
      expect((await fetch(`${sluice.baseUrl}/readyz`)).status).toBe(200)
      expect((await fetch(`${sluice.baseUrl}/nowhere`)).status).toBe(404)
      await client.begin(1, {}, randomBytes(1))
    }
    await open.write(content.subarray(PIECE))
    open.end()
    expect((await open.reply).status).toBe(204)
    const objects = readdirSync(target.bucket.directory, { recursive: true, withFileTypes: true })
    const object = objects.find(({ parentPath }) => parentPath.includes(fileIdOf(url)))!
    expect(readFileSync(join(object.parentPath, object.name)).equals(content)).toBe(true)
    expect(sluice.output()).not.toContain('"PATCH"')

    disk.free()
    await expect.poll(sluice.output).toContain('"PATCH"')
    expect(await sluice.stop()).toBe(0)
    // A failed write of the log must not be logged itself: that would never end.
    expect(sluice.output()).not.toContain('ENOSPC')
  },
)
