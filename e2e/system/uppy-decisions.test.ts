/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { type Browser, chromium, type Page } from 'playwright'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { plainUppySnippet } from '#lib/dashboard/embed/browser-snippets.ts'
import { listFiles } from '#lib/dashboard/files/list-files.ts'
import { saveHook } from '#lib/hooks/pipe-hooks.ts'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { findChromium } from '../../test/support/chromium.ts'
import { serveUppyTo, startCustomerSite } from '../../test/support/customer-site.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { type Decider, openDecider } from '../../test/support/decider.ts'
import { dropResponses } from '../../test/support/http-proxies.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'

/** Runs Uppy with @sluice/uppy in a real Chromium, set up with the Embed page's code, while a hook decides on its files. */
const REASON = 'It has a virus.'
const BYTES = 300_000

let database: DatabaseHandle & { url: string }
let site: Site
let node: Awaited<ReturnType<typeof serveUploads>>
let decider: Decider
let browser: Browser
let line: ReturnType<typeof dropResponses>

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  decider = await openDecider()
  node = await serveUploads(site.runtime, { terms: { decideMs: 5000, pollMs: 20 } })
  line = dropResponses(node.server, () => decider.asked.length > 0)
  const hook = { url: decider.url, enabled: true, timeoutSeconds: 5, withoutAnswer: 'refuse' as const }
  await saveHook(site.runtime, site.actor, { pipeId: site.pipe.id, hook: 'before_complete' }, hook)
  browser = await chromium.launch(await findChromium())
})
beforeEach(() => {
  decider.reset()
  line.drop(2)
})
afterAll(async () => {
  await browser?.close()
  await node?.close()
  await decider?.close()
  await site?.close()
  await database?.close()
})

type Ended = { error: string | null; objects: string[] }

/** Opens a page with Uppy. `next` resolves to the next outcome that Uppy reports to the page. */
async function openUploader() {
  const uploadUrl = `${node.url}/pipes/${site.pipe.id}/files/`
  const snippet = plainUppySnippet({ baseUrl: node.url, uploadUrl, pipeId: site.pipe.id }).replace(
    /<\/script>\n$/,
    `uppy.on('upload-success', () => ended(null))
    uppy.on('upload-error', (_, error) => ended(error.message))
    </script>`,
  )
  const customer = await startCustomerSite(snippet, async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    return Response.json({ token: await site.token(), expiresAt, uploadUrl })
  })
  const page = await browser.newPage()
  const told: ((ended: Ended) => void)[] = []
  await page.exposeFunction('ended', async (error: string | null) =>
    told.shift()!({ error, objects: await site.bucket.objects() }),
  )
  // Web nodes serve Uppy and its plugin, and this test has no web node.
  await serveUppyTo(page)
  await page.goto(customer.url)
  const close = async () => {
    await page.close()
    await customer.close()
  }
  const next = () => new Promise<Ended>((resolve) => told.push(resolve))
  return { page, next, [Symbol.asyncDispose]: close }
}

async function send(page: Page): Promise<void> {
  const file = { name: 'a.bin', mimeType: 'application/octet-stream', buffer: randomBytes(BYTES) }
  await page.locator('.uppy-Dashboard-input').first().setInputFiles(file)
  await page.getByRole('button', { name: 'Upload 1 file' }).click()
}

const files = async () => (await listFiles(site.runtime, site.actor, { limit: 100 })).data

describe('Uppy, with the last response dropped twice', () => {
  it('reports success when the object exists', async () => {
    const before = await files()
    await using uploader = await openUploader()
    const ended = uploader.next()
    await send(uploader.page)
    const { error, objects } = await ended
    expect(error).toBeNull()
    const [file, ...others] = await files()
    expect(others).toHaveLength(before.length)
    expect(file!.status).toBe('transferred')
    expect(objects).toContain(`${file!.id}/a.bin`)
    expect(line.dropped).toBe(2)
  })

  it('reports a rejection with its reason, even when retrying, and starts no new upload', async () => {
    decider.answer = () => ({ allow: false, reason: REASON })
    const before = await files()
    await using uploader = await openUploader()
    const first = uploader.next()
    await send(uploader.page)
    const second = first.then(async () => {
      const ended = uploader.next()
      await uploader.page.getByRole('button', { name: 'Retry upload' }).last().click()
      return ended
    })
    for (const { error, objects } of [await first, await second]) {
      expect(error).toBe(REASON)
      const [file, ...others] = await files()
      expect(others).toHaveLength(before.length)
      expect(file).toMatchObject({ status: 'failed', decision: { reason: REASON } })
      expect(objects).not.toContain(`${file!.id}/a.bin`)
    }
    expect(decider.asked).toHaveLength(1)
  })
})
