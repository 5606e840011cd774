import { format } from 'node:util'
import { type Logger, withoutQuery } from '../lib/platform/log/log.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: colors start with an escape character.
const COLOUR = /\u001b\[[0-9;]*m/g
/** Next's prefix for its messages. */
const SIGN = /^\s*[⨯✓⚠○▲]\s*/u

/** Lines that Next prints at each start, and that are not worth logging. */
const NOISE = /^Running next\.config(\.\w+)? took /

/** Turns each message that Next writes to the console into a log line, with an error as its `err`. */
export function captureConsole(log: Logger, target: Console = console): void {
  const write =
    (level: 'info' | 'warn' | 'error') =>
    (...said: unknown[]) => {
      const err = said.find((one) => one instanceof Error)
      const text = format(...said.filter((one) => one !== err))
        .replace(COLOUR, '')
        .replace(SIGN, '')
      const message = withoutQuery(text).trim()
      if (err) log[level]({ err }, message || 'a page failed')
      else if (message && !NOISE.test(message)) log[level](message)
    }
  target.debug = () => {}
  target.log = write('info')
  target.info = write('info')
  target.warn = write('warn')
  target.error = write('error')
}
