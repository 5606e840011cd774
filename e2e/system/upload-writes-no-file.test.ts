/** @module-tag long */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { startUploadNode, type UploadNode } from '../../test/support/start-upload-node.ts'
import { openPatch } from '../../test/support/tus-client.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

/** With these flags, Node denies a process all file writes, including in the temporary folder. */
const NO_WRITES = ['--permission', '--allow-fs-read=*']
const MiB = 1024 * 1024

let database: DatabaseHandle & { url: string }
let site: Site
let node: UploadNode

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  node = await startUploadNode({ databaseUrl: database.url }, NO_WRITES)
})
afterAll(async () => {
  await node?.stop()
  await site?.close()
  await database?.close()
})

it('uses flags that keep a process from writing anywhere', () => {
  const write = "require('node:fs').writeFileSync(require('node:os').tmpdir() + '/sluice-guard', '')"
  const { status, stderr } = spawnSync(process.execPath, [...NO_WRITES, '-e', write], { encoding: 'utf8' })
  expect(status).not.toBe(0)
  expect(stderr).toContain('ERR_ACCESS_DENIED')
})

it('transfers parts, a tail and a single-part file without writing a file', async () => {
  const client = await site.client(node)
  const whole = randomBytes(20 * MiB)
  const url = await client.begin(whole.length)
  const patch = openPatch(client, url, { offset: 0, length: whole.length })
  await patch.write(whole.subarray(0, 9 * MiB))
  patch.cut()
  const offset = await client.offset(url)
  expect(offset).toBe(9 * MiB)
  expect((await client.patch(url, offset, whole.subarray(offset))).status).toBe(204)
  const small = await client.create(1000, {}, whole.subarray(0, 1000))
  expect(small.status).toBe(201)
  const object = (of: string) => site.bucket.object(`${of.split('/').at(-1)}/file`)
  expect((await object(url)).equals(whole)).toBe(true)
  expect((await object(small.headers.location!)).equals(whole.subarray(0, 1000))).toBe(true)
})
