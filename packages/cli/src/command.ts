import { type ParseArgsConfig, parseArgs } from 'node:util'
import { EXIT, Failure } from './failure.ts'

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
