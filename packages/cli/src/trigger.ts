import { randomUUID } from 'node:crypto'
import type { FileStatusChanged } from '../../node/src/generated/types.ts'
import { type Command, EXIT, Failure, misused, readArguments, result, say } from './command.ts'
import { forward } from './forward.ts'
import { listenSecret } from './listen.ts'

const STATUSES = ['transferred', 'partially_transferred', 'failed', 'expired', 'canceled'] as const
const usage = `trigger <${STATUSES.join('|')}> --forward-to <url> [--json]`

/**
 * Sends an event about a file that never existed to the given address only. It is signed like the events from `listen`.
 */
export const trigger: Command = {
  usage,
  about: 'Send a simulated event to an address on this machine',
  async run(args) {
    const { values, positionals } = readArguments(args, usage, { 'forward-to': { type: 'string' } })
    const named = positionals[0] ?? 'transferred'
    const status = STATUSES.find((one) => one === named)
    if (!status)
      throw misused(`There is no status "${named}". The statuses are ${STATUSES.join(', ')}.`, usage)
    const url = values['forward-to']
    if (!url || !URL.canParse(url)) throw misused('Specify an address with --forward-to.', usage)
    const { signal } = new AbortController()
    const event = invent(status)
    const done = await forward(event, { url, secret: listenSecret(), signal, onWait: say })
    const answered = done?.status ?? 0
    result(values.json, { eventId: event.id, status: answered }, `${url} responded with ${answered}.`)
    if (answered < 200 || answered > 299) throw new Failure('The event was not accepted.', EXIT.failed)
  },
}

function invent(status: (typeof STATUSES)[number]): FileStatusChanged {
  const isPartial = status === 'partially_transferred'
  const there = status === 'transferred' || isPartial
  const place = { bucket: 'example-bucket', key: 'example/holiday.jpg', required: true }
  const failed = { destinationId: randomUUID(), status: 'failed' as const, etag: null }
  const first = there
    ? {
        ...place,
        destinationId: randomUUID(),
        status: 'transferred' as const,
        etag: '"d41d8cd98f00b204e9800998ecf8427e"',
      }
    : { ...place, ...failed }
  const second = {
    ...place,
    ...failed,
    bucket: 'second-bucket',
    required: false,
    reason: 'fell_behind' as const,
  }
  const file = {
    filename: 'holiday.jpg',
    filetype: 'image/jpeg',
    size: 1_234_567,
    checksum: there ? 'crc32:8a9136aa' : null,
  }
  return {
    id: randomUUID(),
    type: 'file.status_changed',
    event: 'file.status_changed',
    timestamp: new Date().toISOString(),
    test: true,
    data: {
      pipe_id: 'pipe_aaaaaaaaaaaaaaaaaaaa',
      file_id: randomUUID(),
      ...file,
      status,
      sender: 'Command line',
      protocol: 'tus',
      subject: 'user-1',
      metadata: {},
      uploadMetadata: {},
      destinations: isPartial ? [first, second] : [first],
    },
  }
}
