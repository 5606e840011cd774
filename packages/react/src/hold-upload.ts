/** Releases it. */
export type Hold = () => void

/** Pages without TLS have no locks: two tabs then do not know about each other, but lists on the same page do. */
const heldHere = new Map<string, Promise<void>>()

/**
 * An unfinished upload belongs to one list in one tab at a time; the next one waits here until that is closed.
 * Without a result, the wait was ended, or the browser has no locks for this page.
 */
export function holdUpload(id: string, signal?: AbortSignal): Promise<Hold | undefined> {
  if (!navigator.locks) return holdHere(id)
  return new Promise((resolve) => {
    const held = () => new Promise<void>((release) => resolve(release))
    navigator.locks.request(nameOf(id), { signal }, held).catch(() => resolve(undefined))
  })
}

/** Immediately, or not at all. */
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
