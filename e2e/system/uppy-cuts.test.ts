/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { type Browser, chromium } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { plainUppySnippet } from '#lib/dashboard/embed/browser-snippets.ts'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { findChromium } from '../../test/support/chromium.ts'
import { startCustomerSite } from '../../test/support/customer-site.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { randomOf } from '../../test/support/random.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { openCuttingProxy } from '../../test/support/tcp-proxies.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

/**
 * Runs Uppy with @sluice/uppy in a real Chromium, set up with the Embed page's exact code, on a connection that breaks
 * at random bytes.
 */
const MiB = 1024 * 1024
const CUTS = 12
const FILES = 3
const FILE_BYTES = 12 * MiB + 7

let database: DatabaseHandle & { url: string }
let site: Site
let browser: Browser

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  browser = await chromium.launch(await findChromium())
})
afterAll(async () => {
  await browser?.close()
  await site?.close()
  await database?.close()
})

function startNode(uploadUrl: string): Promise<Sluice> {
  return startSluice({
    ROLES: 'upload,web',
    HOST: '127.0.0.1',
    BASE_URL: 'http://localhost:0',
    UPLOAD_URL: uploadUrl,
    DATABASE_URL: database.url,
    DATA_DIR: '/nowhere/is-needed',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    ALLOWED_PRIVATE_HOSTS: '*',
    LOG_LEVEL: 'warn',
  })
}

it('Uppy on a connection that breaks twelve times: every object equals its source', async () => {
  const random = randomOf('Uppy as on the Embed page')
  const proxy = await openCuttingProxy({ cuts: CUTS, withinBytes: 4 * MiB, random })
  const node = await startNode(proxy.url)
  proxy.leadTo(Number(new URL(node.baseUrl).port))
  const uploadUrl = `${proxy.url}/pipes/${site.pipe.id}/files/`
  const snippet = plainUppySnippet({ baseUrl: node.baseUrl, uploadUrl, pipeId: site.pipe.id })
  const customer = await startCustomerSite(snippet, async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    return Response.json({ token: await site.token(), expiresAt, uploadUrl })
  })
  const sources = Array.from({ length: FILES }, (_, n) => ({
    name: `${n}.bin`,
    bytes: randomBytes(FILE_BYTES),
  }))
  using folder = temporaryFolder()
  const paths = sources.map(({ name, bytes }) => {
    writeFileSync(join(folder.path, name), bytes)
    return join(folder.path, name)
  })
  const page = await browser.newPage()
  await page.goto(customer.url)
  await page.locator('.uppy-Dashboard-input').first().setInputFiles(paths)
  await page.getByRole('button', { name: `Upload ${FILES} files` }).click()
  await page.getByText('Complete', { exact: true }).waitFor({ timeout: 120_000 })
  await page.close()

  for (const { name, bytes } of sources) {
    // An upload that started over would be a separate file.
    const begun = await rows<{ id: string; status: string }>(
      database.db,
      sql`select id, status from files where filename = ${name}`,
    )
    expect(begun).toMatchObject([{ status: 'transferred' }])
    expect((await site.bucket.object(`${begun[0]!.id}/${name}`)).equals(bytes), name).toBe(true)
  }
  expect(proxy.counts.cuts).toBe(CUTS)
  expect(await site.bucket.unfinished()).toEqual([])
  await customer.close()
  expect(await node.stop()).toBe(0)
  await proxy.close()
})
