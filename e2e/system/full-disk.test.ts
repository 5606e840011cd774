import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { readDemo, targetOf } from '../../test/support/target.ts'
import { type TusReply, tusClient } from '../../test/support/tus-client.ts'

const MiB = 1024 * 1024
/** Smaller than the smallest part, so that it waits in the database. */
const PIECE = 4 * MiB
const UPLOADS = 12

/** Writes until the disk is full. */
function fill(file: string): void {
  const handle = openSync(file, 'w')
  try {
    for (let bytes = MiB; bytes > 0; ) {
      try {
        bytes = writeSync(handle, Buffer.alloc(bytes)) < bytes ? 0 : bytes
      } catch {
        bytes = Math.floor(bytes / 2)
      }
    }
  } finally {
    closeSync(handle)
  }
}

it("responds with 503 while the embedded database's disk is full, and loses nothing", async ({ skip }) => {
  using folder = temporaryFolder()
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'none', folder.path]).status === 0
  if (!mounted) skip('This user may not mount such a file system.')
  try {
    const dataDir = join(folder.path, 'data')
    const sluice = await startSluice({ DATA_DIR: dataDir, FREE_TIER_BYTES: '0' })
    const target = targetOf(readDemo(dataDir))
    const { token } = await target.token()
    const client = tusClient({ url: sluice.baseUrl, pipeId: target.pipeId, token })
    const content = randomBytes(2 * PIECE)
    const urls: string[] = []
    for (let n = 0; n < UPLOADS; n++) urls.push(await client.begin(content.length))

    const filler = join(folder.path, 'filler')
    fill(filler)
    const answers: TusReply[] = []
    for (const url of urls) answers.push(await client.patch(url, 0, content.subarray(0, PIECE)))
    const refused = answers.filter(({ status }) => status !== 204)
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, headers, body } of refused) {
      expect(status, body).toBe(503)
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    }

    rmSync(filler)
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
  } finally {
    // Unmounts lazily, since Sluice is still running if the test has failed.
    spawnSync('umount', ['-l', folder.path])
  }
})
