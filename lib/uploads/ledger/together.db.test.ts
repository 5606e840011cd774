import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tallies, webhookOutputs } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { rows } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { createUpload } from '../opening/create-upload.ts'
import type { Whole } from './whole-files.ts'

describeWithDatabase('simultaneous uploads', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  beforeAll(async () => {
    site = await createSite(database())
    node = await serveUploads(site.runtime)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })

  const declared = {
    filename: 'a "quoted", strange name',
    filetype: 'text/plain',
    uploadMetadataHeader: 'a YQ==',
    uploadMetadata: { a: 'ä\u2028\\' },
    lengthBytes: 7,
    concat: null,
    protocol: 'tus' as const,
  }

  it('share statements, and one that lost its lease does not keep the others from finishing', async () => {
    const { context } = node
    const right = await context.rights.toCreate(await site.token(), site.pipe.id, 'tus')
    const made = await Promise.all(
      Array.from({ length: 12 }, () => createUpload(context, right, declared, { bytes: undefined })),
    )
    const wholes = made.map(
      ({ upload }, n): Whole => ({
        workspaceId: site.workspaceId,
        lease: { ...upload!.lease, ...(n === 5 && { claim: 'of somebody else' }) },
        hasWebhooks: n % 2 === 0,
        fromBytes: 0,
        toBytes: 7,
        crc32: 1,
        storedAt: [{ dataStoreId: site.dataStore.id, etag: `"${n}"`, certainty: 'answered' }],
      }),
    )
    const recorded = await Promise.all(wholes.map((whole) => context.recordWhole(whole)))
    for (const { upload } of made) upload!.lease.forget()
    expect(recorded).toEqual(wholes.map((_, n) => n !== 5))

    const found = await rows<Record<string, unknown>>(
      database().db,
      sql`select f.status, f.filename, f.upload_metadata as metadata, d.etag,
          (select array_agg(kind order by kind) from file_timeline t where t.file_id = f.id) as kinds,
          (select array_agg(missed_status) from events e where e.file_id = f.id) as missed
        from files f join file_destinations d on d.file_id = f.id
        where f.workspace_id = ${site.workspaceId}::uuid order by f.id`,
    )
    const all = { filename: declared.filename, metadata: declared.uploadMetadata }
    expect(found).toEqual(
      wholes.map((_, n) =>
        n === 5
          ? { ...all, status: 'uploading', etag: null, kinds: ['created'], missed: null }
          : {
              ...all,
              status: 'transferred',
              etag: `"${n}"`,
              kinds: ['completed', 'created'],
              missed: ['transferred'],
            },
      ),
    )
    const noted = await database().db.select().from(tallies)
    expect(noted.map(({ what, bytes }) => `${what} ${bytes}`)).toEqual(Array(11).fill('transferred 7'))
    const [counted] = await rows(
      database().db,
      sql`select used_bytes as used, reserved_bytes as reserved, files_created as files
        from usage_months u join tokens t using (workspace_id) where u.workspace_id = ${site.workspaceId}::uuid`,
    )
    expect(counted).toEqual({ used: 77, reserved: 7, files: 12 })
  })

  it('are announced if the webhook output was switched on after the request arrived', async () => {
    const { context } = node
    const right = await context.rights.toCreate(await site.token(), site.pipe.id, 'tus')
    expect(right.pipe.hasWebhooks).toBe(false)
    await database().db.insert(webhookOutputs).values({
      id: uuidv7(),
      workspaceId: site.workspaceId,
      pipeId: site.pipe.id,
      enabled: true,
      url: 'https://hooks.example.com/',
      secretEncrypted: 'sealed',
    })
    const made = await createUpload(context, right, declared, { bytes: undefined })
    const { lease, hasWebhooks } = made.upload!
    const storedAt = [{ dataStoreId: site.dataStore.id, etag: '"e"', certainty: 'answered' } as const]
    const whole = { lease, hasWebhooks, fromBytes: 0, toBytes: 7, crc32: 1, storedAt }
    expect(await context.recordWhole({ ...whole, workspaceId: site.workspaceId })).toBe(true)
    lease.forget()
    const { fileId } = made
    const sent = await rows(
      database().db,
      sql`select pipe_id, missed_status from events where file_id = ${fileId}::uuid`,
    )
    expect(sent).toEqual([{ pipe_id: site.pipe.id, missed_status: null }])
    await database().db.delete(webhookOutputs)
  })

  it('each get their own lease, whichever files share their statement', async () => {
    const { context } = node
    const right = await context.rights.toCreate(await site.token(), site.pipe.id, 'tus')
    const made = await Promise.all(
      [undefined, undefined, { bytes: 1 }].map((incoming) =>
        createUpload(context, right, declared, incoming),
      ),
    )
    const held = await rows(
      database().db,
      sql`select lease_until > now() as held from files where pipe_id = ${site.pipe.id} and token_id = ${right.token.id}::uuid
        order by lease_until nulls first`,
    )
    expect(held).toEqual([{ held: null }, { held: null }, { held: true }])
    made[2]!.upload!.lease.forget()
  })

  it('each get the result for their own token and upload', async () => {
    const { context } = node
    const [token, other] = [await site.token({ subject: 'a' }), await site.token({ subject: 'b' })]
    const right = await context.rights.toCreate(token, site.pipe.id, 'tus')
    const { fileId } = await createUpload(context, right, declared, undefined)
    const at = { pipeId: site.pipe.id, fileId }
    const asked = [token, other, 'tmp_nobody', token].map((one) => context.rights.toContinue(one, at))
    expect(await Promise.allSettled(asked)).toMatchObject([
      { value: { upload: { id: fileId } } },
      { reason: { code: 'upload_not_found' } },
      { reason: { code: 'token_invalid' } },
      { value: { upload: { id: fileId } } },
    ])
  })
})
