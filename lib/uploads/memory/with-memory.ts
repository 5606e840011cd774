import type { Bucket } from '../bucket-port.ts'
import type { UploadContext } from '../upload-context.ts'

/** Reserves memory for what `work` reads back, and returns it afterwards. */
export async function withMemory<Result>(
  { budget }: Pick<UploadContext, 'budget'>,
  bucket: Bucket,
  { bytes, signal }: { bytes: number; signal: AbortSignal },
  work: () => Promise<Result>,
): Promise<Result> {
  const giveBack = await budget.account(bucket).reserve(bytes, signal)
  try {
    return await work()
  } finally {
    giveBack()
  }
}
