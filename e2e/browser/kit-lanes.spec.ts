import { createHash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { expect, test } from '../../test/support/browser.ts'
import { pageWith } from '../../test/support/kit-page.ts'
import { MIB, objectOf, openOnLine } from '../../test/support/kit-site.ts'

/** Large files, which @sluice/react sends over several connections. */

const SIZE = 72 * MIB
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

test(
  'a large file is sent over several connections, and goes on in each when all are cut and the page is reloaded',
  { tag: '@long' },
  async ({ demo, page }, info) => {
    await using at = await openOnLine(demo, await pageWith('<UploadButton />'))
    const { line } = at
    const bytes = randomBytes(SIZE)
    const path = info.outputPath('large.bin')
    writeFileSync(path, bytes)
    await page.goto(at.url)
    await page.getByLabel('Choose files').setInputFiles(path)
    for (const stopAt of [MIB, 3 * MIB, 5 * MIB]) {
      line.stopAt = stopAt
      await expect.poll(() => line.stalled).toBeGreaterThanOrEqual(2)
      if (stopAt < 5 * MIB) line.cut()
    }
    await page.reload()
    line.stopAt = Number.POSITIVE_INFINITY
    await expect(page.getByRole('listitem')).toContainText('Uploaded', { timeout: 30_000 })
    const [file, ...others] = await at.stored()
    expect([file!.status, file!.declaredChecksum, others]).toEqual(['transferred', file!.checksum, []])
    expect(hashOf(objectOf(demo, 'large.bin'))).toBe(hashOf(bytes))
    expect(line.passedBytes).toBeLessThan(SIZE * 1.1)
  },
)

test(
  'a large file fails if a byte of any lane changes in transit, is sent over one connection if so configured, and can be paused and canceled',
  { tag: '@long' },
  async ({ demo, page }, info) => {
    await using at = await openOnLine(
      demo,
      await pageWith('<UploadButton connections={new URL(location.href).searchParams.has("one") ? 1 : 5} />'),
    )
    const { line } = at
    const path = info.outputPath('large.bin')
    writeFileSync(path, randomBytes(40 * MIB))
    const row = page.getByRole('listitem')
    await page.goto(at.url)

    line.flipAt = 2 * MIB
    await page.getByLabel('Choose files').setInputFiles(path)
    await expect(row).toContainText('Failed: The file was damaged on its way.')
    line.flipAt = Number.POSITIVE_INFINITY
    await page.getByRole('button', { name: 'Retry large.bin' }).click()
    await expect(row).toContainText('Uploaded')
    expect((await at.stored()).map(({ status }) => status)).toEqual(['transferred', 'failed'])

    line.stopAt = 3 * MIB
    await page.getByLabel('Choose files').setInputFiles(path)
    await expect.poll(() => line.stalled).toBeGreaterThanOrEqual(2)
    await page.getByRole('button', { name: 'Pause large.bin' }).click()
    line.stopAt = 6 * MIB
    await page.getByRole('button', { name: 'Resume large.bin' }).click()
    await expect.poll(() => line.stalled).toBeGreaterThanOrEqual(4)
    await page.getByRole('button', { name: 'Cancel large.bin' }).click()
    await expect.poll(async () => (await at.stored())[0]!.status).toBe('canceled')

    line.cut()
    await page.goto(`${at.url}?one`)
    await page.getByLabel('Choose files').setInputFiles(path)
    await expect.poll(() => line.stalled).toBe(1)
    line.stopAt = Number.POSITIVE_INFINITY
    line.cut()
    await expect(row).toContainText('Uploaded')
  },
)
