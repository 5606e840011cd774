/** An invariant that does not hold. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly invariant: string

  constructor(invariant: string, details: string) {
    super(`${invariant}: ${details}`)
    this.invariant = invariant
  }
}
