/** Results go to the output, and everything said on the way beside it, so that one can be piped. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** A line for people, or one of JSON. */
export function result(json: boolean | undefined, value: object, words: string): void {
  process.stdout.write(`${json ? JSON.stringify(value) : words}\n`)
}
