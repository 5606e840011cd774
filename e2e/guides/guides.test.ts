import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { GUIDES } from '#app/(site)/docs/pages.ts'
import { freePort } from '../../test/support/postgres.ts'
import { temporaryFolder } from '../../test/support/sluice.ts'
import { type Target, targetOf } from '../../test/support/target.ts'
import { endWithThisProcess } from '../../test/support/until-exit.ts'
import { FRAMEWORKS, type Framework, run } from './frameworks.ts'
import { write, writeGuide } from './write-guide.ts'

/**
 * Follows the guides as a reader would: the exact files shown on a page are checked with their language's tools, and
 * started if the framework is installed. Then a token is requested, a file is uploaded with it, and its webhook is
 * received.
 */
const sluice: Target = targetOf(inject('demo'))
const succeeds = async (command: Framework['language']) => (await run(command)).ok

async function makePipe(webhookUrl: string): Promise<{ pipeId: string; secret: string }> {
  const fields = { name: 'Guided', dataStoreId: sluice.dataStoreId, source: { http: true } }
  const { id: pipeId } = (await sluice.api<{ id: string }>('POST', '/pipes', fields)).body
  const output = { url: webhookUrl, enabled: true, statuses: [] }
  const { secret } = (await sluice.api<{ secret: string }>('PUT', `/pipes/${pipeId}/webhook`, output)).body
  return { pipeId, secret }
}

async function startSite(folder: string, { prepare, start }: Framework, env: Record<string, string>) {
  const options = { cwd: folder, env: { ...process.env, ...env } }
  if (prepare) expect(await run(prepare, options)).toMatchObject({ ok: true })
  const child = spawn(start[0], start.slice(1), { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  endWithThisProcess(child)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  const ended = once(child, 'exit')
  return {
    said: () => said,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function upload(token: string, uploadUrl: string): Promise<void> {
  const { status } = await fetch(uploadUrl, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Tus-Resumable': '1.0.0',
      'Upload-Length': '5',
      'Upload-Metadata': `filename ${btoa('guided.txt')}`,
      'Content-Type': 'application/offset+octet-stream',
    },
    body: 'hello',
  })
  expect(status).toBe(201)
}

/** These guides show the kit first, and then Uppy, without packages in the backend. */
const WITH_KIT = ['guides/nextjs', 'guides/express', 'guides/hono']
const WAYS = GUIDES.flatMap((guide) => [
  { ...guide, isBare: false },
  ...(WITH_KIT.includes(guide.slug) ? [{ ...guide, title: `${guide.title} with Uppy`, isBare: true }] : []),
])

describe.each(WAYS)('the guide for $title', ({ slug, isBare }) => {
  const framework = FRAMEWORKS[slug]

  it('shows code that its language accepts', { timeout: 240_000 }, async ({ skip }) => {
    if (!(await succeeds(framework.language))) skip(`${framework.language[0]} is not installed.`)
    using folder = temporaryFolder()
    for (const [file, text] of Object.entries(framework.around ?? {})) write(folder.path, file, text)
    const files = await writeGuide(slug, folder.path, { ...sluice, isBare })
    expect(files.length).toBeGreaterThanOrEqual(2)
    expect(await framework.faults(folder.path, files)).toEqual([])
  })

  it("issues a token, serves its page and receives the file's webhook", { timeout: 240_000 }, async ({
    skip,
  }) => {
    if (!(await succeeds(framework.framework))) skip(`${slug.slice('guides/'.length)} is not installed.`)
    using folder = temporaryFolder()
    const url = `http://localhost:${await freePort()}`
    const { pipeId, secret } = await makePipe(`${url}/webhooks/sluice`)
    for (const [file, text] of Object.entries(framework.around ?? {})) write(folder.path, file, text)
    const files = await writeGuide(slug, folder.path, { ...sluice, pipeId, isBare })
    await using site = await startSite(folder.path, framework, {
      PORT: new URL(url).port,
      SLUICE_SENDER_TOKEN: sluice.senderToken,
      SLUICE_WEBHOOK_SECRET: secret,
      PYTHONPATH: resolve(globSync('packages/python/dist/*.whl')[0]!),
    })
    const page = async () => (await fetch(url + framework.page).catch(() => undefined))?.status
    await expect.poll(page, { message: site.said() }).toBe(200)
    const shown = files.find((file) => file.endsWith('upload.html'))
    const served = await (await fetch(url + framework.page)).text()
    if (shown) expect(served).toBe(readFileSync(join(folder.path, shown), 'utf8'))
    for (const [, path] of served.matchAll(/from '(\/[^']+)'/g))
      expect((await fetch(url + path)).headers.get('content-type'), path).toMatch(/javascript/)

    const answer = await fetch(`${url}/api/upload-token`, { method: 'POST' })
    const { token, uploadUrl } = (await answer.json()) as { token: string; uploadUrl: string }
    expect([answer.ok, token], site.said()).toEqual([true, expect.stringMatching(/^tmp_/)])

    const forged = { 'X-Service-Signature': `t=${Math.floor(Date.now() / 1000)},v1=${'00'.repeat(32)}` }
    const hook = (init: RequestInit) => fetch(`${url}/webhooks/sluice`, { method: 'POST', ...init })
    expect((await hook({ headers: forged, body: '{}' })).status, site.said()).toBe(400)
    expect((await hook({})).status, site.said()).toBe(400)

    await upload(token, uploadUrl)
    const statuses = async () => {
      const { data } = (
        await sluice.api<{ data: { attempts: { status: number }[] }[] }>(
          'GET',
          `/deliveries?pipeId=${pipeId}`,
        )
      ).body
      return data.flatMap(({ attempts }) => attempts.map(({ status }) => status))
    }
    await expect.poll(statuses, { message: site.said() }).toEqual([204])
    await expect.poll(site.said).toContain('guided.txt transferred')
  })
})
