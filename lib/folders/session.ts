import { Directory } from './directory.ts'
import type { Opening } from './entries.ts'
import type { FileDeps } from './open-file.ts'
import { assertStillAllowed, endSession, type SignedIn } from './sign-in.ts'

/** What a client has once it has signed in: a directory, for as long as its token is accepted. */
export class Session {
  readonly directory: Directory
  readonly #deps: FileDeps
  readonly #signedIn: SignedIn
  readonly #opening: Opening
  readonly #onRevoked: (error: unknown) => void
  #checkedMs: number
  #check: Promise<void> | undefined

  constructor(
    deps: FileDeps,
    signedIn: SignedIn,
    { opening, onRevoked }: { opening: Opening; onRevoked: (error: unknown) => void },
  ) {
    this.#deps = deps
    this.#signedIn = signedIn
    this.#opening = opening
    this.#onRevoked = onRevoked
    this.#checkedMs = deps.context.clock.now()
    this.directory = new Directory(deps, signedIn, opening)
  }

  /**
   * Checks that the session is still allowed, and rejects if it is not. Returns undefined if a recent check has
   * succeeded.
   */
  stillAllowed(): Promise<void> | undefined {
    const { context, terms } = this.#deps
    if (!this.#check && context.clock.now() - this.#checkedMs < terms.recheckMs) return undefined
    this.#check ??= assertStillAllowed(context, this.#signedIn, this.#opening.protocol).then(
      () => {
        this.#checkedMs = context.clock.now()
        this.#check = undefined
      },
      (error: unknown) => {
        // Waiting requests get this error as their response, and then the connection ends.
        setImmediate(() => this.#onRevoked(error))
        throw error
      },
    )
    return this.#check
  }

  end(): Promise<void> {
    return endSession(this.#deps.context, this.#signedIn)
  }
}
