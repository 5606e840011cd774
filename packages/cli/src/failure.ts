/** What the program ends with, for scripts that call it. */
export const EXIT = { done: 0, failed: 1, misused: 2, refused: 3, away: 4 } as const

/** Told to the person as it is, without a stack. */
export class Failure extends Error {
  readonly exit: number
  /** What to do about it, below the message. */
  readonly advice: string[]

  constructor(message: string, exit: number = EXIT.failed, advice: string[] = []) {
    super(message)
    this.exit = exit
    this.advice = advice
  }
}
