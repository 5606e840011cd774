import { type ParseArgsConfig, parseArgs } from 'node:util'

export type Command = {
  usage: string
  about: string
  run(args: string[]): Promise<void>
}

type Options = NonNullable<ParseArgsConfig['options']>

/** Parses a command's options, in addition to `--json`, which every command accepts. */
export function readArguments<Named extends Options>(args: string[], usage: string, named: Named) {
  const options = { ...named, json: { type: 'boolean', default: false } } as const
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw misused((error as Error).message, usage)
  }
}

/** Undefined if the option was not given. Never NaN, which JSON would write as null, meaning no limit. */
export function wholeNumber(option: string, given: string | undefined, usage: string): number | undefined {
  if (given === undefined) return undefined
  if (!/^\d+$/.test(given)) throw misused(`--${option} must be a whole number.`, usage)
  return Number(given)
}

/** Separate lines, because a line break within a line would be escaped. */
export const usageLines = (usage: string) => `Usage: sluice ${usage}`.split('\n')

export function misused(message: string, usage: string): Failure {
  return new Failure(message, EXIT.misused, usageLines(usage))
}

/** The exit codes, for scripts. */
export const EXIT = { done: 0, failed: 1, misused: 2, refused: 3, away: 4 } as const

/** An error whose message is shown to the user as it is, without a stack trace. */
export class Failure extends Error {
  readonly exit: number
  /** The suggested remedy, shown below the message. */
  readonly advice: string[]

  constructor(message: string, exit: number = EXIT.failed, advice: string[] = []) {
    super(message)
    this.exit = exit
    this.advice = advice
  }
}
