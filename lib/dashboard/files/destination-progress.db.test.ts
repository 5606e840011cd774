import { and, eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { dataStores, fileDestinations, fileParts, repairedParts } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { addDestination, addFile, addPipe, addWorkspace } from '../../../test/support/webhook-rows.ts'
import { readDestinationProgress } from './destination-progress.ts'

const MiB = 1024 * 1024

describeWithDatabase("a file's destinations", (database) => {
  async function addDestinations(count: number) {
    const { db } = database()
    const { id: workspaceId } = await addWorkspace(db)
    const pipeId = await addPipe(db, workspaceId)
    const fileId = await addFile(db, { workspaceId, pipeId }, { status: 'uploading' })
    const ids: string[] = []
    for (let n = 1; n <= count; n++) {
      const id = await addDestination(db, workspaceId, fileId)
      await db
        .update(dataStores)
        .set({ name: `Store ${n}`, mayRead: n !== 2 })
        .where(eq(dataStores.id, id))
      if (count > 1) await change(fileId, id, { position: n, required: n === 1 })
      ids.push(id)
    }
    return { db, fileId, ids }
  }
  const change = (fileId: string, id: string, fields: Partial<typeof fileDestinations.$inferInsert>) =>
    database()
      .db.update(fileDestinations)
      .set(fields)
      .where(and(eq(fileDestinations.fileId, fileId), eq(fileDestinations.dataStoreId, id)))

  it('have progressed as far as the parts that each of them has acknowledged', async () => {
    const { db, fileId, ids } = await addDestinations(3)
    await db.insert(fileParts).values(
      [
        ['"a"', '"b"', null],
        ['"c"', null, null],
      ].map((etags, n) => ({
        fileId,
        number: n + 1,
        offsetBytes: n * 8 * MiB,
        sizeBytes: 8 * MiB,
        crc32: 1,
        etags: etags as string[],
      })),
    )
    const progress = await readDestinationProgress(db, fileId)
    expect(ids.map((id) => progress.get(id)!.sentBytes)).toEqual([16 * MiB, 8 * MiB, 0])
  })

  it('are shown in the console of a provider that has an address for an object', async () => {
    const { db, fileId, ids } = await addDestinations(2)
    const aws = { provider: 'aws', endpoint: 'https://s3.eu-central-1.amazonaws.com' } as const
    const place = { ...aws, region: 'eu-central-1' }
    await db.update(dataStores).set(place).where(eq(dataStores.id, ids[0]!))
    const progress = await readDestinationProgress(db, fileId)
    const key = encodeURIComponent(`${fileId}/a film.mp4`)
    expect(ids.map((id) => progress.get(id)!.inConsole)).toEqual([
      {
        console: 'AWS console',
        href: `https://eu-central-1.console.aws.amazon.com/s3/object/media?region=eu-central-1&prefix=${key}`,
      },
      undefined,
    ])
  })

  it('consist of a single entry for a file with one destination', async () => {
    const { db, fileId, ids } = await addDestinations(1)
    const part = { fileId, number: 1, offsetBytes: 0, sizeBytes: 5, etags: ['"a"'], crc32: 1 }
    await db.insert(fileParts).values(part)
    const progress = await readDestinationProgress(db, fileId)
    expect(progress.get(ids[0]!)).toMatchObject({ name: 'Store 1', sentBytes: 5, repairedBytes: null })
  })

  it('are repaired from destinations that have the object and can be read', async () => {
    const { db, fileId, ids } = await addDestinations(4)
    const [, , third, fourth] = ids
    const now = new Date()
    await change(fileId, third!, { status: 'failed', repairAt: now })
    await change(fileId, fourth!, { status: 'failed', repairUntil: new Date(now.getTime() + 60_000) })
    await db.insert(repairedParts).values(
      [1, 2].map((number) => ({
        fileId,
        dataStoreId: fourth!,
        number,
        sizeBytes: MiB,
        etag: '"x"',
        crc32: 1,
      })),
    )
    const progress = await readDestinationProgress(db, fileId)
    const none = { repairedBytes: null, isRepairing: false, repairAtMs: now.getTime() }
    expect(progress.get(third!)).toMatchObject({ ...none, sources: ['Store 1'] })
    expect(progress.get(fourth!)).toMatchObject({
      repairedBytes: 2 * MiB,
      isRepairing: true,
      repairAtMs: null,
    })
  })
})
