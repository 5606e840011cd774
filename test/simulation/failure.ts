/** An invariant that does not hold. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly invariant: string

  constructor(invariant: string, details: string) {
    super(`${invariant}: ${details}`)
    this.invariant = invariant
  }
}

const checked = new Map<string, number>()

export function assertHolds(invariant: string, isSo: boolean, details: () => string): void {
  checked.set(invariant, (checked.get(invariant) ?? 0) + 1)
  if (!isSo) throw new Failure(invariant, details())
}

/** Returns how often each invariant was checked since the last call. */
export function takeChecks(): Record<string, number> {
  const checks = Object.fromEntries(checked)
  checked.clear()
  return checks
}
