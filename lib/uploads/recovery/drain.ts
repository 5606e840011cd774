import type { UploadContext } from '../upload-context.ts'

/** Stops every writer at its next boundary, with all that arrived recorded, and waits for the work that continues after answers. */
export async function drainUploads({ leases, background }: UploadContext): Promise<void> {
  await leases.stop()
  await Promise.allSettled(background)
}
