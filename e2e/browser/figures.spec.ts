import { randomBytes } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { Page } from 'playwright/test'
import { formatBytes, formatPercent, plural } from '#components/format.ts'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import type { File } from '#lib/dashboard/files/file.ts'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { openDatabase } from '#lib/platform/db/open-database.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { tokenFor } from '../../test/support/begin-upload.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { OTHER_OPERATOR } from '../../test/support/browser-setup.ts'
import { startReceiver } from '../../test/support/receiver.ts'

type Made = { id: string; token: string }
type Row = Pick<File, 'id' | 'status' | 'offset'> & {
  size: number
  batchId: string
  delivery: string | null
  state: string | null
  attempts: number | null
}

const sum = (some: Row[], field: 'size' | 'offset') => some.reduce((all, row) => all + row[field], 0)
const told = (some: Row[]) => `${plural(some.length, 'file')}, ${formatBytes(sum(some, 'size'))}`

/** One file or more of each status, with a webhook for each that has ended. The one for two.bin is not accepted. */
async function makeFiles(demo: DemoDocument, { db }: DatabaseHandle) {
  const receiver = await startReceiver(({ body }, res) =>
    res.writeHead(body.includes('two.bin') ? 500 : 204).end(),
  )
  const fields = { name: 'Counted', dataStoreId: demo.dataStoreId, source: { http: true } }
  const { id } = await api<Made>(demo, 'POST', '/pipes', fields)
  const webhook = { url: receiver.url, enabled: true, statuses: ['failed', 'expired', 'canceled'] }
  await api(demo, 'PUT', `/pipes/${id}/webhook`, webhook)
  const sender = await api<Made>(demo, 'POST', '/senders', { name: 'Counted' })
  const group = await api<Made>(demo, 'POST', '/sender-groups', { name: 'Counted' })
  await api(demo, 'PATCH', `/senders/${sender.id}/limits`, { groupId: group.id })
  const { token, uploadUrl } = await tokenFor(demo.baseUrl, sender.token, id, { batch: 'Counted' })
  const send = async (name: string, bytes: number, headers: Record<string, string> = {}) => {
    const authorized = { Authorization: `Bearer ${token}`, ...headers }
    return fetch(uploadUrl + name, { method: 'PUT', headers: authorized, body: new Uint8Array(bytes) })
  }
  const begin = async (name: string, bytes: number) => {
    const headers = {
      Authorization: `Bearer ${token}`,
      'Tus-Resumable': '1.0.0',
      'Upload-Length': '5000',
      'Upload-Metadata': `filename ${btoa(name)}`,
      'Content-Type': 'application/offset+octet-stream',
    }
    const { status } = await fetch(uploadUrl, { method: 'POST', headers, body: new Uint8Array(bytes) })
    expect(status).toBe(201)
    const [file] = await rows<{ id: string }>(
      db,
      sql`select id from files where pipe_id = ${id} and filename = ${name}`,
    )
    return file!.id
  }
  await send('one.bin', 70_000)
  await send('two.bin', 30_400)
  await send('failed.bin', 900, { 'Repr-Digest': 'crc32=:AAAAAA==:' })
  await begin('open.bin', 1200)
  await api(demo, 'POST', `/files/${await begin('canceled.bin', 400)}/cancel`)
  const expired = await begin('expired.bin', 700)
  await db.execute(sql`update files set expires_at = now() where id = ${expired}::uuid`)
  return { id, senderId: sender.id, groupId: group.id, receiver }
}

async function readCsv(page: Page, path: string): Promise<Record<string, string>[]> {
  const text = await (await page.request.get(path)).text()
  const [names, ...lines] = text
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','))
  return lines.map((cells) => Object.fromEntries(names!.map((name, n) => [name, cells[n]!])))
}

const openRows = () =>
  openDatabase({ dataDir: process.env.SLUICE_DATA! }, { log: createLogger('silent'), share: true })

test('each figure is the sum of its rows on every page, list, export and API field that shows it', {
  tag: '@long',
}, async ({ owner: page, demo }) => {
  // Uploads expire within a minute.
  test.slow()
  const database = await openRows()
  const { id, senderId, groupId, receiver } = await makeFiles(demo, database)
  const read = () =>
    rows<Row>(
      database.db,
      sql`select f.id, f.status, f.length_bytes::int as size, f.offset_bytes::int as offset, f.batch_id as "batchId",
        d.id as delivery, d.state, d.attempt_count as attempts
      from files f left join deliveries d on d.file_id = f.id where f.pipe_id = ${id} order by f.id desc`,
    )
  const settled = async () =>
    (await read()).map(({ status, state, attempts }) => [status, attempts ? state : null])
  await expect.poll(settled, { timeout: 90_000 }).toEqual([
    ['expired', 'delivered'],
    ['canceled', 'delivered'],
    ['uploading', null],
    ['failed', 'delivered'],
    ['transferred', 'pending'],
    ['transferred', 'delivered'],
  ])
  const files = await read()
  await database.close()
  await receiver.stop()
  const of = (...statuses: Row['status'][]) => files.filter(({ status }) => statuses.includes(status))
  const [transferred, lost, open] = [of('transferred'), of('failed', 'expired'), of('uploading')]
  const delivered = files.filter(({ state }) => state === 'delivered').length

  const events = receiver.received.map(({ body }) => JSON.parse(body).data)
  expect(new Map(events.map(({ file_id, size }) => [file_id, size]))).toEqual(
    new Map(files.filter((row) => row.state).map((row) => [row.id, row.offset])),
  )

  const tile = (name: string) =>
    page.getByRole('listitem').getByRole('link', { name: new RegExp(`^${name}`) })
  for (const address of [`/dashboard?pipeId=${id}`, `/dashboard/pipes/${id}`]) {
    // Finished files are added to the figures by a sweep.
    await expect(async () => {
      await page.goto(address)
      await expect(tile('Success rate')).toContainText(
        `${formatPercent(transferred.length, transferred.length + lost.length)}${lost.length} failed or expired`,
        { timeout: 1000 },
      )
    }).toPass()
    await expect(tile('Transferred files')).toContainText(`files${transferred.length}`)
    await expect(tile('Bytes of these files')).toContainText(formatBytes(sum(transferred, 'size')))
    await expect(tile('Open uploads')).toContainText(`uploads${open.length}now`)
    await expect(tile('Webhooks delivered')).toContainText(`delivered${delivered}1 failing, will be retried`)
    await expect(tile('Abandoned webhooks')).toContainText('webhooks0nothing to resend')
  }
  await page.goto('/dashboard')
  await expect(
    page.getByRole('list', { name: 'Pipes' }).getByRole('link', { name: 'Counted' }),
  ).toContainText(`${open.length} uploading, ${lost.length} failed, ${transferred.length} transferred`)

  const lists = new Map([
    ['', `${told(files.filter(({ status }) => status !== 'canceled'))}, and 1 canceled`],
    [`&batchId=${files[0]!.batchId}&status=failed`, told(of('failed'))],
    ...files.map(({ status }) => [`&status=${status}`, told(of(status))] as const),
  ])
  for (const [query, totals] of lists) {
    await page.goto(`/dashboard/files?pipeId=${id}${query}`)
    await expect(page.getByText(totals, { exact: true })).toBeVisible()
  }
  const exported = `/dashboard/files/export?pipeId=${id}&format`
  const figures = files.map(({ id, status, size, offset }) => [id, status, size, offset])
  const figuresOf = (some: File[]) => some.map(({ id, status, size, offset }) => [id, status, size, offset])
  expect(figuresOf(await (await page.request.get(`${exported}=json`)).json())).toEqual(figures)
  expect(
    (await readCsv(page, `${exported}=csv`)).map((row) => [
      row.id,
      row.status,
      Number(row.size),
      Number(row.offset),
    ]),
  ).toEqual(figures)
  expect(figuresOf((await api<{ data: File[] }>(demo, 'GET', `/files?pipeId=${id}`)).data)).toEqual(figures)

  const states = new Map(files.flatMap(({ delivery, state }) => (delivery ? [[delivery, state]] : [])))
  const statesOf = (some: Record<string, unknown>[]) => new Map(some.map(({ id, state }) => [id, state]))
  expect(statesOf(await readCsv(page, `/dashboard/webhooks/export?pipeId=${id}&format=csv`))).toEqual(states)
  type Listed = { data: Record<string, unknown>[] }
  expect(statesOf((await api<Listed>(demo, 'GET', `/deliveries?pipeId=${id}`)).data)).toEqual(states)

  const batch = await api(demo, 'GET', `/batches/${files[0]!.batchId}`)
  expect(batch).toMatchObject({ files: files.length, open: open.length })
  await page.goto(`/dashboard/files?batchId=${files[0]!.batchId}`)
  const ended = `${files.length - open.length} of ${files.length} files have ended`
  await expect(page.getByText(ended)).toBeVisible()
  for (const { status } of files) {
    const outcome = page.getByRole('link', { name: `${of(status).length} ${status}`, exact: true })
    await expect(outcome).toBeVisible()
  }
  const sender = await api(demo, 'GET', `/senders/${senderId}`)
  expect(sender).toMatchObject({ transferredBytes: sum(transferred, 'size') })
  const group = await api(demo, 'GET', `/sender-groups/${groupId}`)
  expect(group).toMatchObject({ senderCount: 1, transferredBytes: sum(transferred, 'size') })
  const groups = '/dashboard/senders/groups'
  for (const address of [
    ...['/dashboard/senders', `/dashboard/senders/${senderId}`],
    ...[groups, `${groups}/${groupId}`],
  ]) {
    await page.goto(address)
    await expect(page.getByText(formatBytes(sum(transferred, 'size')), { exact: true })).toBeVisible()
  }

  const received = sum(files, 'offset')
  await page.goto('/dashboard/usage')
  await expect(page.getByRole('row').filter({ hasText: 'Counted' })).toContainText(formatBytes(received))
  // Other tests upload at the same time.
  await expect(async () => {
    const days = await readCsv(page, '/dashboard/usage/csv')
    expect(days.find(({ pipe_id }) => pipe_id === id)!.bytes).toBe(String(received))
    const all = days.reduce((bytes, day) => bytes + Number(day.bytes), 0)
    expect(await api(demo, 'GET', '/usage')).toMatchObject({ usedBytes: all })
  }).toPass()
})

test("each figure of upload links and of the operators' console is the sum of its rows", {
  tag: '@long',
}, async ({ owner: page, browser, baseURL, demo }) => {
  const database = await openRows()
  const one = async <Found extends Record<string, unknown>>(query: SQL) =>
    (await rows<Found>(database.db, query))[0]!
  const fields = { name: 'Linked', dataStoreId: demo.dataStoreId, source: { http: true } }
  const { id: pipeId } = await api<Made>(demo, 'POST', '/pipes', fields)
  type Link = Made & { code: string; senderId: string }
  const limits = { title: 'Counted', maxFiles: 20, maxBytes: 5_000_000 }
  const link = await api<Link>(demo, 'POST', '/upload-links', { pipeId, ...limits })
  const visitor = randomBytes(32).toString('base64url')
  type Opened = { upload: { token: string; uploadUrl: string } }
  const { upload } = await api<Opened>(demo, 'POST', '/upload-links/open', { code: link.code, visitor })
  for (const [name, bytes] of Object.entries({ 'one.bin': 70_000, 'two.bin': 30_400 })) {
    const headers = { Authorization: `Bearer ${upload.token}` }
    await fetch(upload.uploadUrl + name, { method: 'PUT', headers, body: new Uint8Array(bytes) })
  }
  const sent = await one<{ files: number; bytes: number }>(
    sql`select count(*)::int as files, sum(length_bytes)::int as bytes from files where sender_id = ${link.senderId}::uuid`,
  )
  expect(sent.files).toBe(2)
  const { files: filesCreated, bytes: bytesCreated } = sent
  expect(await api(demo, 'GET', `/upload-links/${link.id}`)).toMatchObject({ filesCreated, bytesCreated })
  await page.goto(`/dashboard/pipes/${pipeId}/links`)
  const row = page.getByRole('row', { name: 'Counted' })
  await expect(row).toContainText(`${sent.files} of 20`)
  await expect(row).toContainText(`${formatBytes(sent.bytes)} of 5 MB`)

  const context = await browser.newContext({ baseURL: baseURL! })
  const console = await context.newPage()
  await console.goto('/sign-up')
  await console.getByLabel('Email').fill(OTHER_OPERATOR)
  await console.getByLabel('Password').fill('a few words in a row')
  await console.getByRole('button', { name: 'Create account' }).click()
  await expect(console.getByText('0 of 5 done')).toBeVisible()
  await database.db.execute(sql`update users set email_verified_at = now() where email = ${OTHER_OPERATOR}`)
  // Other tests upload at the same time.
  await expect(async () => {
    await console.goto(`/operator?search=${demo.email}`)
    const seen = await one<{ id: string; members: number; bytes: number; open: number }>(
      sql`select w.id, (select count(*)::int from members m where m.workspace_id = w.id) as members,
          (select sum(bytes)::float8 from usage_days d where d.workspace_id = w.id and d.day >= date_trunc('month', now())) as bytes,
          (select count(*)::int from files f where f.workspace_id = w.id and f.status = 'uploading' and f.concat is null and f.lane_of is null) as open
        from workspaces w join pipes p on p.workspace_id = w.id where p.id = ${pipeId}`,
    )
    const row = console.getByRole('row').filter({ hasText: demo.email })
    await expect(row).toContainText(`${seen.members}${formatBytes(seen.bytes)}${seen.open}`, {
      timeout: 1000,
    })
    await console.goto(`/operator/workspaces/${seen.id}`)
    const open = plural(seen.open, 'upload')
    const figures = console.getByText(`${formatBytes(seen.bytes)} this month${open} in progress`)
    await expect(figures).toBeVisible({ timeout: 1000 })
  }).toPass()
  await expect(async () => {
    await console.goto('/operator/service')
    const waiting = await one<Record<string, number>>(
      sql`select (select count(*)::int from deliveries where state = 'pending') as "Webhook deliveries",
        (select count(*)::int from files where status = 'transferring' and decision in ('asked', 'deferred')) as "Files waiting for a decision",
        (select count(*)::int from files where status = 'uploading' and concat is null and lane_of is null) as "Uploads in progress"`,
    )
    for (const [what, count] of Object.entries(waiting)) {
      const row = console.getByRole('row').filter({ hasText: what })
      await expect(row).toContainText(`${what}${count}`, { timeout: 1000 })
    }
  }).toPass()
  await context.close()
  await database.close()
})

test('the transfer in the sidebar keeps up with that on the page', async ({ page }) => {
  const email = `meter-${Date.now()}@example.com`
  await page.goto('/sign-up')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill('a few words in a row')
  await page.getByRole('button', { name: 'Create account' }).click()
  const meter = page.getByRole('banner').getByRole('link', { name: 'This month' })
  await expect(meter).toContainText('0 B of')

  const database = await openRows()
  await database.db.execute(sql`insert into usage_months (workspace_id, month, used_bytes)
    select m.workspace_id, to_char(now() at time zone 'utc', 'YYYY-MM'), 2500000 from members m join users u on u.id = m.user_id
    where u.email = ${email}`)
  await database.close()
  for (const title of ['Usage', 'Overview']) {
    await page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name: title }).click()
    await expect(page.getByRole('main').getByText('2.5 MB', { exact: true })).toBeVisible()
    await expect(meter).toContainText('2.5 MB of')
  }
})
