import type { UploadContext } from './upload-context.ts'

/** Lets work continue after its request has ended. A node that is stopping waits for it; a failure is logged. */
export function inBackground(
  { background, log }: Pick<UploadContext, 'background' | 'log'>,
  work: Promise<unknown>,
): void {
  const ended = work
    .then(
      () => {},
      (err: unknown) => log.warn({ err }, 'work that continued after its request failed'),
    )
    .finally(() => background.delete(ended))
  background.add(ended)
}
