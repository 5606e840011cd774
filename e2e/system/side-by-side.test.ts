import { randomBytes } from 'node:crypto'
import { expect, inject, it } from 'vitest'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { createDatabase } from '../../test/support/postgres.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { sourceBefore } from '../../test/support/source-before.ts'
import { tusClient } from '../../test/support/tus-client.ts'
import { createSite } from '../../test/support/upload-site.ts'

const MiB = 1024 * 1024

it('the version before serves beside this one on the new schema, and alone after going back', async ({
  skip,
}) => {
  const before = sourceBefore()
  if (!before) return skip('There is no git history to take the version before from.')
  await using database = await openDatabase()
  using folder = temporaryFolder()
  const env = {
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a'.repeat(40),
    BASE_URL: 'http://localhost:0',
    HOST: '127.0.0.1',
    ALLOWED_PRIVATE_HOSTS: '*',
    DATABASE_URL: database.url,
    DATA_DIR: folder.path,
    ROLES: 'upload',
  }
  const older = await startSluice(env, before.folder)
  const newer = await startSluice(env)
  await using site = await openSite(database)
  const clientOf = ({ baseUrl }: { baseUrl: string }) =>
    tusClient({ url: baseUrl, pipeId: site.pipe.id, token: site.token })
  const [ofOlder, ofNewer] = [clientOf(older), clientOf(newer)]
  const uploads = [
    { begins: ofOlder, goesOn: ofOlder },
    { begins: ofOlder, goesOn: ofNewer },
    { begins: ofNewer, goesOn: ofOlder },
    { begins: ofNewer, goesOn: ofNewer },
  ].map((nodes) => ({ ...nodes, whole: randomBytes(18 * MiB), id: '' }))

  for (const upload of uploads) {
    const { begins, whole } = upload
    const url = (await begins.create(whole.length)).headers.location!
    upload.id = url.split('/').at(-1)!
    expect((await begins.patch(url, 0, whole.subarray(0, 6 * MiB + 1))).status).toBe(204)
  }
  // The first piece becomes a part; the others wait in the database as a tail.
  const second = [6 * MiB + 1, 7 * MiB] as const
  const third = [7 * MiB, 8 * MiB] as const
  for (const upload of uploads) {
    const { begins, goesOn, id } = upload
    expect((await goesOn.head(`${goesOn.collection}${id}`)).headers['upload-offset']).toBe(String(second[0]))
    expect(await carriesOn(goesOn, upload, second)).toBe(true)
    if (!(await carriesOn(begins, upload, third))) expect(await carriesOn(ofNewer, upload, third)).toBe(true)
  }
  expect(await newer.stop()).toBe(0)
  expect(await older.stop()).toBe(0)

  const back = await startSluice(env, before.folder)
  const ofBack = clientOf(back)
  expect((await fetch(`${back.baseUrl}/readyz`)).status).toBe(200)
  const last = [8 * MiB, 18 * MiB] as const
  const done = await Promise.all(uploads.map((upload) => carriesOn(ofBack, upload, last)))
  expect(done[0]).toBe(true)
  expect(await back.stop()).toBe(0)
  const left = uploads.filter((_, n) => !done[n])
  if (left.length > 0) {
    const again = await startSluice(env)
    for (const upload of left) expect(await carriesOn(clientOf(again), upload, last)).toBe(true)
    expect(await again.stop()).toBe(0)
  }
  for (const { whole, id } of uploads)
    expect((await site.bucket.object(`${id}/file`)).equals(whole)).toBe(true)
})

/** False where the version before finds it locked, as one does that cannot open the tail: it must not write then. */
async function carriesOn(
  client: ReturnType<typeof tusClient>,
  { whole, id }: { whole: Buffer; id: string },
  [from, to]: readonly [number, number],
): Promise<boolean> {
  const patched = await client.patch(`${client.collection}${id}`, from, whole.subarray(from, to))
  expect([204, 423], patched.body).toContain(patched.status)
  return patched.status === 204
}

async function openDatabase() {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const handle = openPostgres({ address: url })
  const close = async () => {
    await handle.close()
    await drop()
  }
  return { ...handle, url, [Symbol.asyncDispose]: close }
}

async function openSite(database: Awaited<ReturnType<typeof openDatabase>>) {
  const site = await createSite(database)
  return { ...site, token: await site.token(), [Symbol.asyncDispose]: site.close }
}
