import { type Command, misused, readArguments, result } from './command.ts'
import { connect } from './settings.ts'

const usage = 'repair <file id> [--destination <data store id>] [--json]'

export const repair: Command = {
  usage,
  about: 'Copy a file to a destination that is missing it, or to all of them',
  async run(args) {
    const { values, positionals } = readArguments(args, usage, { destination: { type: 'string' } })
    const [id, ...more] = positionals
    if (id === undefined || more.length > 0) throw misused('Specify one file by its id.', usage)
    const client = connect()
    const destinations = values.destination ? [values.destination] : await lackingOf(client, id)
    for (const destinationId of destinations) await client.repairDestination({ id, destinationId })
    const told =
      destinations.length === 0
        ? 'Every destination has the object.'
        : `Copying the file to ${destinations.join(' and ')}.`
    result(values.json, { id, destinations }, told)
  },
}

async function lackingOf(client: ReturnType<typeof connect>, id: string): Promise<string[]> {
  const { destinations } = await client.showFile({ id })
  return destinations.filter(({ status }) => status === 'failed').map(({ destinationId }) => destinationId)
}
