import { SluiceError } from '../../node/src/sluice-error.ts'
import manifest from '../package.json' with { type: 'json' }
import { apply } from './apply/apply.ts'
import { exportCommand } from './apply/export.ts'
import { type Command, EXIT, Failure, result, say, usageLines } from './command.ts'
import { doctor } from './doctor.ts'
import { importCommand } from './import.ts'
import { links } from './links.ts'
import { listen } from './listen.ts'
import { login } from './login.ts'
import { repair } from './repair.ts'
import { resend } from './resend.ts'
import { tokens } from './tokens.ts'
import { trigger } from './trigger.ts'
import { upload } from './upload.ts'
import { verify } from './verify.ts'

/** The `sluice` program: its commands and exit codes. */
const COMMANDS: Record<string, Command> = {
  login,
  upload,
  import: importCommand,
  listen,
  trigger,
  resend,
  repair,
  verify,
  doctor,
  tokens,
  links,
  apply,
  export: exportCommand,
}

const HELP = ['--help', '-h']

const USAGE = [
  'Usage: sluice <command>',
  '',
  ...Object.entries(COMMANDS).map(([name, { about }]) => `  ${name.padEnd(8)} ${about}`),
  '',
  'Every command accepts --json; --version prints the version. SLUICE_URL, SLUICE_ACCOUNT_KEY, SLUICE_SENDER_TOKEN and SLUICE_PIPE_ID override what login stored.',
]

async function main([name = '', ...args]: string[]): Promise<void> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command && args.some((arg) => HELP.includes(arg))) return say(...usageLines(command.usage))
  if (command) return command.run(args)
  if (['', 'help', ...HELP].includes(name)) return say(...USAGE)
  if (name === '--version')
    return result(args.includes('--json'), { version: manifest.version }, manifest.version)
  throw new Failure(`There is no command "${name}".`, EXIT.misused, USAGE)
}

function exitOf(error: unknown): number {
  if (error instanceof Failure) return error.exit
  if (!(error instanceof SluiceError)) return EXIT.failed
  if (error.code === 'no_answer') return EXIT.away
  return error.status === 401 || error.status === 403 ? EXIT.refused : EXIT.failed
}

/** The stack without the message, which may contain line breaks from an untrusted source. */
function framesOf(error: unknown): string[] {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : []
  return lines.filter((line) => /^ {4}at .*:\d+\)?$/.test(line))
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof Failure) say(error.message, ...error.advice)
  else if (error instanceof SluiceError) say(error.message)
  else say(String(error), ...framesOf(error))
  process.exitCode = exitOf(error)
})
