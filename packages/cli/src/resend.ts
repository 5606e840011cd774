import { type Command, misused, readArguments, result } from './command.ts'
import { connect } from './settings.ts'

const usage =
  'resend <delivery id> | resend --failed-since <time> [--retrying] [--pipe <id>] [--output <id>] [--json]'

export const resend: Command = {
  usage,
  about: 'Resend a webhook, or all that failed since a given time',
  async run(args) {
    const named = {
      'failed-since': { type: 'string' },
      pipe: { type: 'string' },
      output: { type: 'string' },
      retrying: { type: 'boolean' },
    } as const
    const { values, positionals } = readArguments(args, usage, named)
    const { 'failed-since': since, pipe: pipeId, output: outputId, retrying, json } = values
    const [id, ...more] = positionals
    if (more.length > 0 || (id === undefined) === (since === undefined))
      throw misused('Specify a delivery, or a time with --failed-since.', usage)
    if (id) {
      const { state } = await connect().resendDelivery({ id })
      return result(json, { id, state }, `Resent ${id}.`)
    }
    const answer = await connect().resendFailed({
      since: since!,
      ...(pipeId && { pipeId }),
      ...(outputId && { outputId }),
      ...(retrying && { retrying }),
    })
    const rest = answer.more ? ' There are more: run this again.' : ''
    result(
      json,
      answer,
      `${answer.resent === 1 ? '1 event was' : `${answer.resent} events were`} resent.${rest}`,
    )
  },
}
