import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright'
import { Upload } from 'tus-js-client'
import { plainUppySnippet } from '#lib/dashboard/embed/browser-snippets.ts'
import { findChromium } from '../../test/support/chromium.ts'
import { serveUppyTo, startCustomerSite } from '../../test/support/customer-site.ts'
import { temporaryFolder } from '../../test/support/sluice.ts'
import type { Stage } from './stage.ts'

/**
 * Uploads as a page would: each upload continues automatically, or ends with an error. Resolves once every upload has
 * all its bytes.
 */
export async function uploadByTusJs(
  stage: Pick<Stage, 'site' | 'uploadUrl'>,
  sources: ReadonlyMap<string, Buffer>,
  chunkSize = Number.POSITIVE_INFINITY,
): Promise<void> {
  const token = await stage.site.token()
  await Promise.all(
    [...sources].map(([name, bytes]) => upload(stage.uploadUrl, token, { name, bytes, chunkSize })),
  )
}

type Source = { name: string; bytes: Buffer; chunkSize: number }

function upload(endpoint: string, token: string, { name, bytes, chunkSize }: Source): Promise<void> {
  return new Promise((resolve, reject) => {
    new Upload(bytes, {
      endpoint,
      headers: { Authorization: `Bearer ${token}` },
      metadata: { filename: name },
      chunkSize,
      retryDelays: [0, 1000, 3000, 5000, 5000, 5000, 5000, 5000],
      onSuccess: () => resolve(),
      onError: reject,
    }).start()
  })
}

const DONE_MS = 300_000

/** Uploads with the Embed page's exact code in a real Chromium. Nothing is clicked after the start. */
export async function uploadByUppy(stage: Stage, sources: ReadonlyMap<string, Buffer>): Promise<void> {
  const { site, uploadUrl } = stage
  const snippet = plainUppySnippet({ baseUrl: new URL(uploadUrl).origin, uploadUrl, pipeId: site.pipe.id })
  const customer = await startCustomerSite(snippet, async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    return Response.json({ token: await site.token(), expiresAt, uploadUrl })
  })
  using folder = temporaryFolder()
  const paths = [...sources].map(([name, bytes]) => {
    writeFileSync(join(folder.path, name), bytes)
    return join(folder.path, name)
  })
  const browser = await chromium.launch(await findChromium())
  try {
    const page = await browser.newPage()
    // Web nodes serve Uppy and its plugin, and this stage has no web node.
    await serveUppyTo(page)
    await page.goto(customer.url)
    await page.locator('.uppy-Dashboard-input').first().setInputFiles(paths)
    await page.getByRole('button', { name: `Upload ${sources.size} files` }).click()
    await page.getByText('Complete', { exact: true }).waitFor({ timeout: DONE_MS })
  } finally {
    await browser.close()
    await customer.close()
  }
}
