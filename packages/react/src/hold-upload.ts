const PATIENCE_MS = 1000

/** Let go of it by calling this; without it another tab has the upload. */
export type Hold = (() => void) | undefined

/** An upload that is kept belongs to one tab at a time, and to the next one when that is closed. */
export function holdUpload(id: string): Promise<Hold> {
  // Pages without TLS have no locks.
  if (!navigator.locks) return Promise.resolve(() => {})
  return new Promise((resolve) => {
    const held = () => new Promise<void>((release) => resolve(release))
    const signal = AbortSignal.timeout(PATIENCE_MS)
    navigator.locks.request(`sluice-upload:${id}`, { signal }, held).catch(() => resolve(undefined))
  })
}
