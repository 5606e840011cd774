import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fileDestinations, files } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace } from '../../../test/support/workspace.ts'
import { rows } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { claimTransferring } from '../../recovery/claim-transferring.ts'
import { expireUploads } from '../../recovery/upload-sweeps.ts'
import { countUncountedBytes } from '../../workspace/usage/count-bytes.ts'
import { endingContext, endUpload } from '../endings/end-upload.ts'
import { createTailCipher } from '../rules/tail-cipher.ts'
import { releaseLease, takeLease } from './lease-rows.ts'
import { type Fenced, heldBy, newClaim } from './lease-terms.ts'
import { advance } from './offsets.ts'
import { tailBytes } from './tail-rows.ts'
import { recordTransferred } from './transferred.ts'

const LENGTH = 12
const LEASE_MS = 60_000
const ENDED = ['transferred', 'failed', 'expired', 'canceled']

type Row = { status: string; offset: number; covered: number; gaps: number; used: number; total: number }

/** Every earlier writer is still running, and may do anything at any time. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      writer: fc.nat(3),
      bytes: fc.integer({ min: 1, max: 6 }),
      part: fc.boolean(),
      release: fc.boolean(),
      from: fc.constantFrom('believed' as const, 'wrong' as const, 'true' as const, 'true' as const),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('release' as const, 'done' as const, 'fail' as const),
      writer: fc.nat(3),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'lapse' as const,
        'lapse' as const,
        'claim' as const,
        'claim' as const,
        'cancel' as const,
        'expire' as const,
        'count' as const,
      ),
    }),
  },
)

const boundBy = ({ number, startOffset }: { number: number; startOffset: number }) => ({
  recordedParts: number,
  recordedBytes: startOffset,
  boundEnds: [],
})

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

describeWithDatabase('the ledger', (database) => {
  it('keeps its guarantees for any order of writers', async () => {
    const runtime = testRuntime(database())
    const { workspaceId, pipe, dataStore } = await createTestWorkspace(runtime)
    const { db, clock } = runtime
    const context = endingContext(runtime)
    const tailCipher = createTailCipher(runtime.vault)
    const reached = new Set<string>()
    const begin = async () => {
      const id = uuidv7(clock.now())
      const at = new Date(clock.now())
      await db.insert(files).values({
        id,
        workspaceId,
        pipeId: pipe.id,
        senderName: 'Backend',
        filename: 'file',
        lengthBytes: LENGTH,
        expirySeconds: 3600,
        expiresAt: new Date(clock.now() + 3_600_000),
        createdAt: at,
      })
      await db
        .insert(fileDestinations)
        .values({ fileId: id, dataStoreId: dataStore.id, bucket: 'media', key: id })
      return id
    }
    const look = async (id: string): Promise<Row> => {
      const kept = sql`(select size_bytes as size from file_parts where file_id = f.id
        union all select ${tailBytes} from upload_tails where file_id = f.id)`
      const [row] = await rows<Row>(
        db,
        sql`select status, offset_bytes as offset, (select coalesce(sum(size), 0)::bigint from ${kept} k) as covered,
          (select coalesce(max(number) - count(*), 0)::int from file_parts where file_id = f.id) as gaps,
          (select coalesce(sum(used_bytes), 0)::bigint from usage_months where workspace_id = f.workspace_id) as used,
          (select coalesce(sum(offset_bytes), 0)::bigint from files g where g.workspace_id = f.workspace_id) as total
          from files f where id = ${id}::uuid`,
      )
      return row!
    }
    const lapse = (id: string) =>
      db.execute(sql`update files set lease_until = now() - interval '1 second'
        where id = ${id}::uuid and lease_until is not null`)

    const play = async (steps: Step[]) => {
      const id = await begin()
      const writers: (Fenced & { believes: number; tail: number; number: number; startOffset: number })[] = []
      const writerOf = (n: number) => writers.at(-1 - (n % Math.max(writers.length, 1)))
      let before = await look(id)
      const act = async (s: Step) => {
        clock.advance(1000)
        const nowMs = clock.now()
        if (s.do === 'take') {
          const claim = newClaim(LEASE_MS)
          const got = await takeLease({ db, clock }, claim, { rowId: id, tokenId: null, plan: undefined })
          if (got)
            writers.push({
              ...claim,
              rowId: id,
              fence: got.fence,
              believes: got.offsetBytes,
              tail: got.tailBytes,
              number: got.bound.recordedParts,
              startOffset: got.bound.recordedBytes,
            })
        } else if (s.do === 'claim') {
          clock.advance(3_000)
          const limits = { limit: 4, limitPerBucket: 4, busy: [], nowMs }
          for (const { fileId, fence, claim, bytes } of await claimTransferring(
            db,
            newClaim(LEASE_MS),
            limits,
          ))
            if (fileId === id)
              writers.push({
                rowId: fileId,
                fence,
                claim,
                believes: bytes,
                tail: 0,
                number: 100,
                startOffset: bytes,
              })
        } else if (s.do === 'lapse') await lapse(id)
        else if (s.do === 'count') await countUncountedBytes({ db, clock })
        else if (s.do === 'expire') {
          clock.advance(1_800_000)
          await expireUploads(context)
        } else if (!('writer' in s))
          await endUpload(context, id, { status: 'canceled', reason: null, from: ['uploading'] })
        else {
          const writer = writerOf(s.writer)
          if (!writer) return
          if (s.do === 'release')
            await releaseLease({ db, clock }, writer, { bound: boundBy(writer), interrupted: true })
          else if (s.do === 'done')
            await recordTransferred(
              db,
              writer,
              [{ dataStoreId: dataStore.id, etag: null, certainty: 'answered' }],
              nowMs,
            )
          else if (s.do === 'fail')
            await endUpload(context, id, {
              status: 'failed',
              reason: null,
              from: ['transferring'],
              provided: heldBy(writer),
            })
          else if ('from' in s) {
            const { offset } = before
            const fromBytes = { believed: writer.believes, wrong: offset + 1, true: offset }[s.from]
            const bytes = Math.min(s.bytes, LENGTH - fromBytes)
            if (bytes <= 0) return
            const toBytes = fromBytes + bytes
            const last = toBytes === LENGTH
            const tail = tailCipher.sealer(id)(fromBytes, Buffer.alloc(bytes))
            const part = {
              number: writer.number + 1,
              offsetBytes: fromBytes - writer.tail,
              etags: [''],
              crc32: 0,
              sizeBytes: bytes + writer.tail,
            }
            await advance(
              db,
              writer,
              {
                fromBytes,
                toBytes,
                crc32: 0,
                ...(s.part
                  ? { part, bound: boundBy({ number: part.number, startOffset: toBytes }) }
                  : { tail }),
                ...(last && { become: 'transferring' as const }),
                ...(s.release && { release: { interrupted: false } }),
              },
              nowMs,
            )
            writer.believes = toBytes
            if (s.part) Object.assign(writer, { number: part.number, startOffset: toBytes })
            writer.tail = s.part ? 0 : writer.tail + bytes
          }
        }
      }
      for (const s of steps) {
        await act(s).catch((error: { code?: string }) => expect(error.code).toBe('upload_locked'))
        const now = await look(id)
        expect(now.offset).toBeGreaterThanOrEqual(before.offset)
        if (ENDED.includes(before.status))
          expect(now).toMatchObject({ status: before.status, offset: before.offset })
        if (!ENDED.includes(now.status)) expect(now.covered).toBe(now.offset)
        expect(now.gaps).toBe(0)
        if (now.status === 'transferring') expect(now.offset).toBe(LENGTH)
        before = now
      }
      reached.add(before.status)
      await lapse(id)
      await countUncountedBytes({ db, clock })
      const { used, total } = await look(id)
      expect(used).toBe(total)
    }
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), play), {
      numRuns: 30,
      endOnFailure: true,
    })
    expect([...reached]).toEqual(expect.arrayContaining(['uploading', 'canceled']))
  })
})
