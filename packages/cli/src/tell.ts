/**
 * All that the program writes comes through here. Names of files, answers of servers and even paths may be written by strangers:
 * what would steer the terminal, or turn the direction of its text, is shown and not sent.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const STEERING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const escapeOf = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** A line break among them: each line is a text of its own. */
export function shown(text: string): string {
  return text.replace(STEERING, escapeOf)
}

/** Results go to the output, and everything said on the way beside it, so that one can be piped. */
export function say(...lines: string[]): void {
  process.stderr.write(linesOf(lines))
}

/** Lines for people, or one of JSON, in which every escape is one of JSON's own. */
export function result(json: boolean | undefined, value: object, ...lines: string[]): void {
  process.stdout.write(linesOf(json ? [JSON.stringify(value)] : lines))
}

const linesOf = (lines: string[]) => lines.map((line) => `${shown(line)}\n`).join('')
