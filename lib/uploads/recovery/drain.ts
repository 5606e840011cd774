import type { UploadContext } from '../upload-context.ts'

/** Stops all writers once what has arrived is recorded, and waits for background work. */
export async function drainUploads({ leases, background }: UploadContext): Promise<void> {
  await leases.stop()
  await Promise.allSettled(background)
}
