/**
 * Limits the memory of parts that only destinations of best effort still need: of the share that they have together, a
 * workspace may use as much as it leaves to the others. It is part of the memory budget, and taken from it already.
 */
export class TrailingMemory {
  readonly #shareBytes: number
  readonly #byWorkspace = new Map<string, number>()
  #usedBytes = 0

  constructor(shareBytes: number) {
    this.#shareBytes = shareBytes
  }

  isTooMuch(workspaceId: string): boolean {
    return (this.#byWorkspace.get(workspaceId) ?? 0) > this.#shareBytes - this.#usedBytes
  }

  /** Returns a function that gives it back. */
  take(workspaceId: string, bytes: number): () => void {
    this.#change(workspaceId, bytes)
    return () => this.#change(workspaceId, -bytes)
  }

  #change(workspaceId: string, bytes: number): void {
    this.#usedBytes += bytes
    const ofWorkspace = (this.#byWorkspace.get(workspaceId) ?? 0) + bytes
    if (ofWorkspace > 0) this.#byWorkspace.set(workspaceId, ofWorkspace)
    else this.#byWorkspace.delete(workspaceId)
  }
}
