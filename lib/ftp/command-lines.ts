export type Command = { verb: string; argument: string }

const LINE_FEED = 0x0a

/** Splits what arrives on a control connection into commands. Only the start of a command is kept until its end arrives. */
export class CommandLines {
  readonly #mostBytes: number
  #rest = Buffer.alloc(0)

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** True if part of another command has arrived. */
  get hasRest(): boolean {
    return this.#rest.length > 0
  }

  /** Returns the commands that are complete, or undefined if one is too long. */
  add(chunk: Buffer): Command[] | undefined {
    let bytes = this.hasRest ? Buffer.concat([this.#rest, chunk]) : chunk
    const commands: Command[] = []
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED)) {
      if (end > this.#mostBytes) return undefined
      commands.push(readCommand(bytes.subarray(0, end).toString()))
      bytes = bytes.subarray(end + 1)
    }
    if (bytes.length > this.#mostBytes) return undefined
    this.#rest = Buffer.from(bytes)
    return commands
  }
}

/**
 * Before ABOR, clients send the Telnet signals for "interrupt process" and "synch" (RFC 959, 4.1.3), which are not
 * valid UTF-8. A name may start or end with spaces.
 */
function readCommand(line: string): Command {
  const [, verb = '', argument = ''] = line.replace(/\r$/, '').match(/^[^A-Za-z]*([A-Za-z]*) ?(.*)$/s) ?? []
  return { verb: verb.toUpperCase(), argument }
}
