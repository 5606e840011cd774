/** A browser as the journey needs it, whatever speaks to it. */
export type Visitor = {
  open(url: string): Promise<void>
  /** Runs in the page, and answers what can be written as JSON. */
  run<Argument, Answer>(work: (argument: Argument) => Answer, argument: Argument): Promise<Answer>
  /** What the page wrote into its console as an error, and what it threw, since this was asked last. */
  complaints(): Promise<string[]>
  close(): Promise<void>
}
