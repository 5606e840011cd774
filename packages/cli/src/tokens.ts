import { type Command, misused, readArguments, result, wholeNumber } from './command.ts'
import { choosePipe } from './settings.ts'
import { sender } from './upload-token.ts'

const usage =
  'tokens create [--pipe <id>] [--subject <id>] [--expires-in <seconds>] [--max-bytes <bytes>] [--json]'

export const tokens: Command = {
  usage,
  about: 'Create a temporary upload token',
  async run(args) {
    const { values, positionals } = readArguments(args, usage, {
      pipe: { type: 'string' },
      subject: { type: 'string' },
      'expires-in': { type: 'string' },
      'max-bytes': { type: 'string' },
    })
    if (positionals.join(' ') !== 'create') throw misused('Use `tokens create`.', usage)
    const { subject, 'expires-in': expiresIn, 'max-bytes': maxBytes } = values
    const limits = {
      expiresIn: wholeNumber('expires-in', expiresIn, usage),
      maxBytes: wholeNumber('max-bytes', maxBytes, usage),
    }
    const made = await (await sender()).issueToken({
      pipeId: await choosePipe(values.pipe),
      ...(subject && { subject }),
      ...limits,
    })
    result(values.json, made, made.token)
  },
}
