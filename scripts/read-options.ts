import { type ParseArgsConfig, parseArgs } from 'node:util'
import { sayFault } from '../lib/platform/log/say-fault.ts'

type Options<Config extends ParseArgsConfig> = ReturnType<typeof parseArgs<Config>>

/** Parses a command's options. An unknown option makes the command exit with a message and its usage. */
export function readOptions<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): Options<Config> {
  try {
    return parseArgs(config)
  } catch (error) {
    // The rest of the message is about positional arguments.
    return misused((error as Error).message.split('. ')[0]!, usage)
  }
}

export function misused(what: string, usage: string): never {
  process.stderr.write(`${what}. Usage: ${commandLine(usage)}\n`)
  process.exit(1)
}

/** The packed server's scripts are JavaScript, and it has no npm scripts: its command is `sluice-server`. */
const IS_PACKED = import.meta.filename.endsWith('.js')

/** How to run `npm run admin -- backup file` in this installation. */
export function commandLine(npmRun: string, isPacked = IS_PACKED): string {
  return isPacked ? npmRun.replace('npm run admin -- ', 'sluice-server ') : npmRun
}

/** Exits with 1 and one sentence if the work fails for a reason that the user can fix. */
export async function runScript(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.stderr.write(`${sayFault(error)}\n`)
    process.exitCode = 1
  }
}
