/** The browser operations that the journey needs, regardless of how the browser is controlled. */
export type Visitor = {
  open(url: string): Promise<void>
  /** Runs a function in the page. Its argument and result are serialized as JSON. */
  run<Argument, Answer>(work: (argument: Argument) => Answer, argument: Argument): Promise<Answer>
  /** Returns the errors that the page has logged or thrown since the last call. */
  complaints(): Promise<string[]>
  close(): Promise<void>
}
