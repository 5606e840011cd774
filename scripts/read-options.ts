import { type ParseArgsConfig, parseArgs } from 'node:util'

type Options<Config extends ParseArgsConfig> = ReturnType<typeof parseArgs<Config>>

/** The options of a command. One that it does not know ends it, with a sentence and how it is used. */
export function readOptions<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): Options<Config> {
  try {
    return parseArgs(config)
  } catch (error) {
    // What follows the first sentence is about positional arguments.
    return misused((error as Error).message.split('. ')[0]!, usage)
  }
}

export function misused(what: string, usage: string): never {
  process.stderr.write(`${what}. Usage: ${usage}\n`)
  process.exit(1)
}
