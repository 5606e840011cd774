/** Releases the upload. */
export type Hold = () => void

/** Pages without TLS have no Web Locks. This map then coordinates the lists on one page, but not several tabs. */
const heldHere = new Map<string, Promise<void>>()

/**
 * Locks an unfinished upload, so that only one list in one tab has it at a time. Waits until the list that has it is
 * closed. Resolves to undefined if the wait was aborted or the lock failed; without Web Locks, `signal` is ignored.
 */
export function holdUpload(id: string, signal?: AbortSignal): Promise<Hold | undefined> {
  if (!navigator.locks) return holdHere(id)
  return new Promise((resolve) => {
    const held = () => new Promise<void>((release) => resolve(release))
    navigator.locks.request(nameOf(id), { signal }, held).catch(() => resolve(undefined))
  })
}

/** Locks the upload without waiting; undefined if another list has it. */
export function holdIfFree(id: string): Promise<Hold | undefined> {
  if (!navigator.locks) return heldHere.has(id) ? Promise.resolve(undefined) : holdHere(id)
  return new Promise((resolve) => {
    const held = (lock: Lock | null) =>
      lock ? new Promise<void>((release) => resolve(release)) : resolve(undefined)
    navigator.locks.request(nameOf(id), { ifAvailable: true }, held).catch(() => resolve(undefined))
  })
}

const nameOf = (id: string) => `sluice-upload:${id}`

async function holdHere(id: string): Promise<Hold> {
  while (heldHere.has(id)) await heldHere.get(id)
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  heldHere.set(id, held)
  return () => {
    heldHere.delete(id)
    release()
  }
}
