import { readFileSync } from 'node:fs'
import { unwrap, WebhookVerificationError } from '../../node/src/webhooks.ts'
import { type Command, EXIT, Failure, misused, readArguments, result } from './command.ts'
import { listenSecret } from './listen.ts'

const usage =
  'verify --headers <file> --body <file> [--json]   (with the secret in SLUICE_WEBHOOK_SECRET, or else the one from listen)'

/** `--headers` names a file that contains one header per line, as servers print them, or a JSON object. */
export const verify: Command = {
  usage,
  about: "Check a webhook's signature, and explain a mismatch",
  async run(args) {
    const { values } = readArguments(args, usage, { headers: { type: 'string' }, body: { type: 'string' } })
    if (!values.headers || !values.body) throw misused('Pass both --headers and --body.', usage)
    const headers = readHeaders(read(values.headers).toString())
    const secret = process.env.SLUICE_WEBHOOK_SECRET ?? listenSecret()
    try {
      const { id } = await unwrap(read(values.body), headers, secret)
      result(values.json, { valid: true, eventId: id }, `The signature is valid. Event ${id}.`)
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      if (values.json) result(true, { valid: false, reason: error.reason }, '')
      throw new Failure(error.message, EXIT.failed)
    }
  },
}

function read(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new Failure((error as Error).message, EXIT.misused)
  }
}

function readHeaders(text: string): Record<string, string> {
  if (text.trimStart().startsWith('{')) return JSON.parse(text)
  const lines = text.split(/\r?\n/).map((line) => line.match(/^([\w-]+):\s*(.*)$/))
  return Object.fromEntries(lines.flatMap((match) => (match ? [[match[1]!, match[2]!]] : [])))
}
