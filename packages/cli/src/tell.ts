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
