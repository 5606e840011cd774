import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { lostLease } from '../ledger/lease-terms.ts'
import type { Upload } from '../opening/upload.ts'
import type { UploadContext } from '../upload-context.ts'
import { Recorder } from './recorder.ts'

/** A recorder whose lease is lost while the first number is being bound. */
function recording({ atomic }: { atomic: boolean }) {
  const lost = Promise.withResolvers<never>()
  const lease = {
    whileHeld: (work: Promise<unknown>) => {
      work.catch(() => {})
      return lost.promise
    },
  }
  const numbers = {
    isBound: () => false,
    toBind: () => ({ recordedParts: 0, recordedBytes: 0, boundEnds: [] }),
  }
  const upload = { lease, numbers, limits: { maxParts: 10_000 } } as unknown as Upload
  const recorder = new Recorder({} as UploadContext, upload, { atomic })
  return { recorder, lose: () => lost.reject(lostLease()) }
}

it.each([false, true])(
  'does not crash the process if a lease is lost while a number is bound (atomic: %s)',
  async (atomic) => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.prependListener('unhandledRejection', note)
    const { recorder, lose } = recording({ atomic })
    const bound = recorder.bind(1)
    bound.catch(() => {})
    recorder.inOrder(() => bound).catch(() => {})
    recorder.commit()
    lose()
    await expect(bound).rejects.toMatchObject({ code: 'upload_locked' })
    await expect(recorder.recorded).rejects.toMatchObject({ code: 'upload_locked' })
    await nextTurn()
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  },
)
