import { readFileSync } from 'node:fs'
import { formatBytes } from '#components/format.ts'
import type { File } from '#lib/dashboard/files/file.ts'
import { beginUpload, tokenFor } from '../../test/support/begin-upload.ts'
import { api, expect, test } from '../../test/support/browser.ts'

test('each figure is the sum of its rows on every page, list and export that shows it', {
  tag: '@long',
}, async ({ owner: page, demo }) => {
  const fields = { name: 'Counted', dataStoreId: demo.dataStoreId, source: { http: true } }
  const { id } = await api<{ id: string }>(demo, 'POST', '/pipes', fields)
  const token = await tokenFor(demo.baseUrl, demo.senderToken, id)
  const send = (name: string, bytes: number) =>
    fetch(token.uploadUrl + name, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${token.token}` },
      body: new Uint8Array(bytes),
    })
  expect((await send('one.bin', 70_000)).status).toBe(201)
  expect((await send('two.bin', 30_400)).status).toBe(201)
  await beginUpload(token, 'open.bin')
  await beginUpload(token, 'canceled.bin')
  const list = async () => (await api<{ data: File[] }>(demo, 'GET', `/files?pipeId=${id}`)).data
  const canceled = (await list()).find(({ filename }) => filename === 'canceled.bin')!
  await api(demo, 'POST', `/files/${canceled.id}/cancel`)

  const rows = await list()
  const withStatus = (status: File['status']) => rows.filter((row) => row.status === status)
  const bytesOf = (some: File[]) => some.reduce((sum, { size }) => sum + size!, 0)
  const transferred = withStatus('transferred')
  expect([rows.length, transferred.length, bytesOf(transferred)]).toEqual([4, 2, 100_400])

  const tile = (name: string) =>
    page.getByRole('listitem').getByRole('link', { name: new RegExp(`^${name}`) })
  for (const address of [`/dashboard?pipeId=${id}`, `/dashboard/pipes/${id}`]) {
    // Finished files are added to the figures by a sweep.
    await expect(async () => {
      await page.goto(address)
      await expect(tile('Transferred files')).toContainText(`files${transferred.length}`, { timeout: 1000 })
    }).toPass()
    await expect(tile('Bytes of these files')).toContainText(formatBytes(bytesOf(transferred)))
    await expect(tile('Success rate')).toContainText('100%0 failed or expired')
    await expect(tile('Open uploads')).toContainText(`uploads${withStatus('uploading').length}now`)
  }
  await page.goto('/dashboard')
  await expect(
    page.getByRole('list', { name: 'Pipes' }).getByRole('link', { name: 'Counted' }),
  ).toContainText(`${withStatus('uploading').length} uploading, ${transferred.length} transferred`)

  const kept = rows.filter(({ status }) => status !== 'canceled')
  await page.goto(`/dashboard/files?pipeId=${id}`)
  await expect(page.getByText(`${rows.length} files, ${formatBytes(bytesOf(kept))}`)).toBeVisible()
  await page.goto(`/dashboard/pipes/${id}/files?status=transferred`)
  await expect(
    page.getByText(`${transferred.length} files, ${formatBytes(bytesOf(transferred))}`),
  ).toBeVisible()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export as JSON' }).click(),
  ])
  const exported = JSON.parse(readFileSync(await file.path(), 'utf8')) as File[]
  expect(exported.map((row) => [row.id, row.size])).toEqual(transferred.map((row) => [row.id, row.size]))

  const received = rows.reduce((sum, { offset }) => sum + offset, 0)
  await expect(async () => {
    await page.goto('/dashboard/usage')
    await expect(page.getByRole('row').filter({ hasText: 'Counted' })).toContainText(formatBytes(received), {
      timeout: 1000,
    })
  }).toPass()
})
