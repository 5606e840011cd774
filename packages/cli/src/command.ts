import { type ParseArgsConfig, parseArgs } from 'node:util'

export type Command = {
  usage: string
  about: string
  run(args: string[]): Promise<void>
}

type Options = NonNullable<ParseArgsConfig['options']>

/** The options of a command, beside `--json`, which each has. */
export function readArguments<Named extends Options>(args: string[], usage: string, named: Named) {
  const options = { ...named, json: { type: 'boolean', default: false } } as const
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw misused((error as Error).message, usage)
  }
}

export function misused(message: string, usage: string): Failure {
  return new Failure(message, EXIT.misused, [`Usage: sluice ${usage}`])
}

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
