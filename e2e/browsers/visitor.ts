/** A browser with the operations the journey needs, however it is controlled. */
export type Visitor = {
  open(url: string): Promise<void>
  /** Runs in the page, and returns what can be serialized as JSON. */
  run<Argument, Answer>(work: (argument: Argument) => Answer, argument: Argument): Promise<Answer>
  /** Errors that the page logged or threw since the last call. */
  complaints(): Promise<string[]>
  close(): Promise<void>
}
