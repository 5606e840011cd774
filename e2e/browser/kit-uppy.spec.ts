import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'
import type { Page, TestInfo } from 'playwright/test'
import { api, expect, test } from '../../test/support/browser.ts'
import { revokeNewest } from '../../test/support/customer.ts'
import { openDecider } from '../../test/support/decider.ts'
import { MIB, objectOf, openOnLine } from '../../test/support/kit-site.ts'

/** Tests @sluice/uppy with both versions of Uppy that it supports, without an interface. */
const VERSIONS = { 5: '@uppy/core-5', 6: '@uppy/core' }
const RESULT = { album: 7 }
const REASON = 'It has a virus.'

async function uppyPage(core: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import Uppy from '@uppy/core'
import GoldenRetriever from '@uppy/golden-retriever'
import Sluice, { keepFiles } from './packages/uppy/src/index.ts'

// Otherwise, a page that is reloaded at once has not saved the latest state.
GoldenRetriever[Symbol.for('uppy test: throttleTime')] = 0
let named = 0
const batch = (files) => 'upload of ' + files.length + (named++ > 0 ? ' again' : '')
const uppy = new Uppy().use(GoldenRetriever, keepFiles).use(Sluice, { batch, allowedMetaFields: ['album'] })
const info = []
let failures = 0
uppy.on('info-visible', () => info.push(...uppy.getState().info.map(({ message }) => message)))
uppy.on('upload-error', () => failures++)
globalThis.uppy = uppy
globalThis.shown = () => ({
  info,
  failures,
  files: uppy.getFiles().map(({ name, error, response, progress }) => ({
    name,
    ...(error && { error }),
    ...(response && { result: response.body.result, fileId: response.body.fileId }),
    sent: progress.bytesUploaded === progress.bytesTotal,
  })),
})
document.querySelector('input').onchange = ({ target }) => {
  uppy.addFiles([...target.files].map((file) => ({ name: file.name, type: file.type, data: file, meta: { album: 'A' } })))
  uppy.upload()
}`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    format: 'esm',
    alias: { '@uppy/core': core },
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
  })
  return `<meta charset="utf-8"><input type="file" multiple><script type="module">${outputFiles[0]!.text}</script>`
}

type Shown = {
  info: string[]
  failures: number
  files: { name: string; error?: string; result?: unknown; fileId?: string }[]
}
const shown = (page: Page) => page.evaluate<Shown>('shown()')
const act = (page: Page, action: string) => page.evaluate(`void uppy.${action}`)

/** Writes files to pick: the browser reads those on disk much faster than those from a test's memory. */
const filesOf = (info: TestInfo, names: readonly string[], size = 3 * MIB) =>
  names.map((name) => {
    const path = info.outputPath(name)
    writeFileSync(path, randomBytes(size))
    return path
  })

for (const [version, core] of Object.entries(VERSIONS)) {
  test(`with Uppy ${version}, files resume after an offline period, a revoked token and a reload, and have their results and batch`, async ({
    demo,
    page,
    context,
  }, info) => {
    const decider = await openDecider()
    decider.answer = () => ({ allow: true, result: RESULT })
    await using at = await openOnLine(demo, await uppyPage(core))
    const { line } = at
    const hook = { url: decider.url, enabled: true, timeoutSeconds: 5, withoutAnswer: 'refuse' }
    await api(demo, 'PUT', `/pipes/${at.pipeId}/hooks/before_complete`, hook)
    const names = [1, 2].map((n) => `${n}-${at.pipeId}.bin`)
    const paths = filesOf(info, names)
    await page.goto(at.url)

    line.stopAt = MIB
    await page.locator('input').setInputFiles(paths)
    await expect.poll(() => line.stalled).toBe(2)
    await context.setOffline(true)
    line.cut()
    await expect.poll(async () => (await shown(page)).info).toContain('Waiting for the network')
    line.stopAt = 2 * MIB
    await revokeNewest(demo, at.pipeId)
    await context.setOffline(false)
    await expect.poll(() => line.stalled).toBe(2)

    await page.reload()
    line.stopAt = Number.POSITIVE_INFINITY
    await expect.poll(async () => (await shown(page)).files.map(({ name }) => name)).toEqual(names)
    await act(page, "emit('restore-confirmed')")
    const stored = async () => new Map((await at.stored()).map(({ filename, id }) => [filename, id]))
    await expect
      .poll(async () => (await shown(page)).files)
      .toEqual(
        await Promise.all(
          names.map(async (name) => ({
            name,
            result: RESULT,
            fileId: (await stored()).get(name),
            sent: true,
          })),
        ),
      )
    for (const [n, name] of names.entries())
      expect(objectOf(demo, name).equals(readFileSync(paths[n]!)), name).toBe(true)
    // Nothing started over.
    expect((await at.stored()).map(({ status }) => status)).toEqual(['transferred', 'transferred'])
    for (const { savedBytes } of await at.stored()) expect(savedBytes).toBeGreaterThan(0)
    const { batch, uploadMetadata } = await api<{
      batch: { id: string }
      uploadMetadata: Record<string, string>
    }>(demo, 'GET', `/files/${(await stored()).get(names[0]!)}`)
    expect(uploadMetadata).toMatchObject({ album: 'A' })
    expect(await api(demo, 'GET', `/batches/${batch.id}`)).toMatchObject({
      name: 'upload of 2',
      files: 2,
      sealedAt: expect.any(String),
    })
    await decider.close()
  })

  test(`with Uppy ${version}, a rejected file shows the reason even when retried, and files are paused, continued and removed`, async ({
    demo,
    page,
  }, info) => {
    const decider = await openDecider()
    decider.answer = () => ({ allow: false, reason: REASON })
    await using at = await openOnLine(demo, await uppyPage(core))
    const { line } = at
    const hook = { url: decider.url, enabled: true, timeoutSeconds: 5, withoutAnswer: 'refuse' }
    await api(demo, 'PUT', `/pipes/${at.pipeId}/hooks/before_complete`, hook)
    await page.goto(at.url)
    const errors = async () => (await shown(page)).files.map(({ error }) => error)
    await page.locator('input').setInputFiles(filesOf(info, ['bad.bin'], 1000))
    await expect.poll(errors).toEqual([REASON])
    await act(page, 'retryAll()')
    await expect.poll(async () => (await shown(page)).failures).toBe(2)
    expect([await errors(), await at.stored()]).toMatchObject([[REASON], [{ status: 'failed' }]])
    expect(decider.asked).toHaveLength(1)

    decider.answer = () => ({ allow: true })
    await act(page, "setFileMeta(uppy.getFiles()[0].id, { album: 'B' })")
    await act(page, 'retryAll()')
    const statuses = async () => (await at.stored()).map(({ status }) => status)
    await expect.poll(statuses).toEqual(expect.arrayContaining(['failed', 'transferred']))
    await act(page, 'clear()')
    line.stopAt = MIB
    await page.locator('input').setInputFiles(filesOf(info, ['removed.bin', 'paused.bin']))
    await expect.poll(() => line.stalled).toBe(2)
    await act(page, 'pauseAll()')
    await act(page, "removeFile(uppy.getFiles().find(({ name }) => name === 'removed.bin').id)")
    line.stopAt = Number.POSITIVE_INFINITY
    await expect.poll(at.statuses).toMatchObject({ 'removed.bin': 'canceled', 'paused.bin': 'uploading' })
    await act(page, 'resumeAll()')
    await expect.poll(at.statuses).toMatchObject({ 'paused.bin': 'transferred' })
    await decider.close()
  })
}

test('a file that Golden Retriever did not keep is picked again after a reload, and resumes', async ({
  demo,
  page,
}, info) => {
  await using at = await openOnLine(demo, await uppyPage(VERSIONS[6]))
  const { line } = at
  const paths = filesOf(info, ['not kept.bin'])
  await page.goto(at.url)
  for (const stopAt of [MIB, 2 * MIB]) {
    line.stopAt = stopAt
    if (stopAt === MIB) await page.locator('input').setInputFiles(paths)
    else line.cut()
    await expect.poll(() => line.stalled).toBe(1)
  }
  await page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const opening = indexedDB.open('uppy-blobs')
        opening.onsuccess = () => {
          const clearing = opening.result.transaction('files', 'readwrite')
          clearing.objectStore('files').clear()
          clearing.oncomplete = () => resolve()
        }
      }),
  )
  await page.reload()
  const isGhost = () => page.evaluate('uppy.getFiles().map(({ isGhost }) => isGhost)')
  await expect.poll(isGhost).toEqual([true])
  line.stopAt = Number.POSITIVE_INFINITY
  await page.locator('input').setInputFiles(paths)
  await expect.poll(isGhost).toEqual([false])
  await act(page, "emit('restore-confirmed')")
  await expect.poll(at.statuses).toEqual({ 'not kept.bin': 'transferred' })
  const [stored, ...others] = await at.stored()
  expect(stored!.savedBytes).toBeGreaterThan(0)
  expect(others).toEqual([])
})
