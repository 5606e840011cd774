import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { openFlippingProxy } from '../../test/support/http-proxies.ts'
import { MIB, openCustomer } from '../../test/support/kit-site.ts'

/** Large files, which @sluice/react sends over several connections. */

const SIZE = 72 * MIB
type Stored = { id: string; status: string; checksum: string | null; declaredChecksum: string | null }

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

function objectOf({ bucket }: DemoDocument, filename: string): Buffer {
  const all = readdirSync(bucket.directory, { recursive: true, encoding: 'utf8' })
  return readFileSync(join(bucket.directory, all.find((path) => path.endsWith(`/${filename}`))!))
}

/** A customer's page whose uploads pass through a line that can stall and break. */
async function openOnLine(demo: DemoDocument, element: string) {
  const customer = await openCustomer(demo, element)
  const line = await openFlippingProxy(demo.baseUrl)
  const { post } = customer.backend
  customer.backend.post = async () =>
    new Response((await (await post()).text()).replaceAll(demo.baseUrl, line.url))
  const stored = async () => {
    const { data } = await api<{ data: Stored[] }>(demo, 'GET', `/files?pipeId=${customer.pipeId}`)
    return data
  }
  const close = async () => {
    line.close()
    await customer[Symbol.asyncDispose]()
  }
  return { url: customer.url, line, stored, [Symbol.asyncDispose]: close }
}

test('a large file is sent over several connections, and goes on in each when all are cut and the page is reloaded', async ({
  demo,
  page,
}, info) => {
  await using at = await openOnLine(demo, '<UploadButton />')
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
})

test('a large file fails if a byte of any lane changes in transit, is sent over one connection if so configured, and can be paused and canceled', async ({
  demo,
  page,
}, info) => {
  await using at = await openOnLine(
    demo,
    '<UploadButton connections={new URL(location.href).searchParams.has("one") ? 1 : 5} />',
  )
  const { line } = at
  const path = info.outputPath('large.bin')
  writeFileSync(path, randomBytes(40 * MIB))
  const row = page.getByRole('listitem')
  await page.goto(at.url)

  line.flipAt = 2 * MIB
  await page.getByLabel('Choose files').setInputFiles(path)
  await expect(row).toContainText('Failed: The file was declared with the crc32')
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
})
