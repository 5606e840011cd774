import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
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

/** Four times as large as by default, since each chunk has a cost of its own. */
const CHUNK_BYTES = 256 * 1024

/**
 * The bytes of a file from `start` to before `end`. Fails if the file cannot be read or does not have all of them,
 * because a retry would not help.
 */
export async function* readRange(path: string, start: number, end: number): AsyncGenerator<Buffer> {
  let position = start
  try {
    if (start < end)
      for await (const chunk of createReadStream(path, { start, end: end - 1, highWaterMark: CHUNK_BYTES })) {
        position += chunk.length
        yield chunk
      }
  } catch (error) {
    throw new Failure(`It cannot be read: ${(error as Error).message}`)
  }
  if (position < end) throw new Failure('It was truncated while it was read.')
}

/**
 * Reads a secret from standard input, without its last line break, or prompts for it without echo. Secrets are not
 * arguments, because everyone on the machine can read a process's arguments.
 */
export async function readSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) {
    let text = ''
    for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
    return text.replace(/\r?\n$/, '')
  }
  process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  const answer = await lines.question('')
  lines.close()
  process.stderr.write('\n')
  return answer
}

/**
 * All of the program's output passes through here. File names, server responses and even paths may come from untrusted
 * sources: characters that control the terminal or change its text direction are escaped.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are escaped.
const STEERING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const escapeOf = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Also escapes line breaks: callers pass each line separately. */
export function shown(text: string): string {
  return text.replace(STEERING, escapeOf)
}

/** Results go to standard output, and everything else to standard error, so that results can be piped. */
export function say(...lines: string[]): void {
  process.stderr.write(linesOf(lines))
}

/** Writes lines for people, or a single line of JSON. Escapes in the JSON are valid JSON escapes. */
export function result(json: boolean | undefined, value: object, ...lines: string[]): void {
  process.stdout.write(linesOf(json ? [JSON.stringify(value)] : lines))
}

const linesOf = (lines: string[]) => lines.map((line) => `${shown(line)}\n`).join('')
