/** @module-tag long */
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { createDatabase } from '../../test/support/postgres.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { tusWith } from '../../test/support/tus.ts'

const readDemo = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as DemoDocument

const objectsIn = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)

/** A separate program that only has the AWS SDK and the credentials. */
const PROGRAM = `
import { readFileSync } from 'node:fs'
import { S3Client, PutObjectCommand, GetObjectCommand, ListObjectsV2Command, DeleteObjectCommand } from '@aws-sdk/client-s3'
const { bucket } = JSON.parse(readFileSync(process.argv[1], 'utf8'))
const { endpoint, region, name: Bucket, accessKeyId, secretAccessKey } = bucket
const s3 = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } })
const Key = 'by-another-program.bin'
const status = (command) => s3.send(command).then((answer) => answer.$metadata.httpStatusCode, (error) => error.name + ' ' + error.$metadata?.httpStatusCode)
console.log(JSON.stringify([
  await status(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(20 * 1024 * 1024, 'sluice') })),
  await status(new GetObjectCommand({ Bucket, Key })),
  await status(new ListObjectsV2Command({ Bucket })),
  await status(new DeleteObjectCommand({ Bucket, Key })),
]))
`

function expectOnlyPutObject(folder: string): void {
  const args = ['--input-type=module', '--eval', PROGRAM, join(folder, 'demo.json')]
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual([200, 'AccessDenied 403', 'AccessDenied 403', 'AccessDenied 403'])
  const file = join(readDemo(folder).bucket.directory, 'by-another-program.bin')
  expect(readFileSync(file).equals(Buffer.alloc(20 * 1024 * 1024, 'sluice'))).toBe(true)
}

it('keeps its data and the address of its bucket after a restart, is separate from a copy of its folder, and lets other programs only put objects', async () => {
  using folder = temporaryFolder()
  using copy = temporaryFolder()
  const start = (path = folder.path, roles = 'upload') => startSluice({ DATA_DIR: path, ROLES: roles })
  await (await start()).stop()
  cpSync(folder.path, copy.path, { recursive: true })
  const first = readDemo(folder.path)
  const again = await start()
  expect(readDemo(folder.path)).toEqual({ ...first, baseUrl: again.baseUrl, uploadUrl: again.baseUrl })
  expect(again.output()).not.toContain(first.password)

  const copied = await start(copy.path, 'upload,web,worker')
  const { bucket, baseUrl, senderToken, pipeId } = readDemo(copy.path)
  expect(bucket.directory).toBe(join(copy.path, 'bucket/demo'))
  const asked = await fetch(`${baseUrl}/api/v1/tokens`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${senderToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ pipeId }),
  })
  const { token, uploadUrl } = (await asked.json()) as { token: string; uploadUrl: string }
  await tusWith(token, uploadUrl).create(0)
  expect(objectsIn(bucket.directory)).toHaveLength(1)
  expect(objectsIn(first.bucket.directory)).toEqual([])
  expectOnlyPutObject(folder.path)
  await copied.stop()
  await again.stop()
})

it('moves its bucket to another process when the one serving it is killed', async () => {
  using folder = temporaryFolder()
  const database = await createDatabase(inject('postgresUrl'))
  const env = {
    DATABASE_URL: database.url,
    DATA_DIR: folder.path,
    ROLES: 'upload',
    DEMO: '1',
    BASE_URL: 'http://localhost:0',
    HOST: '127.0.0.1',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a'.repeat(40),
  }
  const [first, second] = [await startSluice(env), await startSluice(env)]
  const endpoint = `${readDemo(folder.path).bucket.endpoint}/demo/key`
  expect((await fetch(endpoint)).status).toBe(403)
  await first.kill()
  await expect
    .poll(
      () =>
        fetch(endpoint).then(
          ({ status }) => status,
          () => 'gone',
        ),
      { timeout: 20_000 },
    )
    .toBe(403)
  expect(await second.stop()).toBe(0)
  await database.drop()
})
