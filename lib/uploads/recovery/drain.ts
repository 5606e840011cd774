import type { UploadContext } from '../upload-context.ts'

/** Stops every writer at its next boundary, with everything that arrived recorded, and waits for background work. */
export async function drainUploads({ leases, background }: UploadContext): Promise<void> {
  await leases.stop()
  await Promise.allSettled(background)
}
