import { type Command, misused, readArguments } from './command.ts'
import { connect } from './settings.ts'
import { result } from './tell.ts'

const usage = 'resend <delivery id> | resend --failed-since <time> [--pipe <id>] [--output <id>] [--json]'

export const resend: Command = {
  usage,
  about: 'Send a webhook again, or all that failed since a time',
  async run(args) {
    const named = {
      'failed-since': { type: 'string' },
      pipe: { type: 'string' },
      output: { type: 'string' },
    } as const
    const { values, positionals } = readArguments(args, usage, named)
    const { 'failed-since': since, pipe: pipeId, output: outputId, json } = values
    const [id, ...more] = positionals
    if (more.length > 0 || (id === undefined) === (since === undefined)) throw misused('Which one?', usage)
    if (id) {
      const { state } = await connect().resendDelivery({ id })
      return result(json, { id, state }, `${id} is sent again.`)
    }
    const answer = await connect().resendFailed({
      since: since!,
      ...(pipeId && { pipeId }),
      ...(outputId && { outputId }),
    })
    result(json, answer, `${answer.resent} are sent again.`)
  },
}
