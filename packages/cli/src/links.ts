import type { Sluice } from '../../node/src/client.ts'
import { type Command, misused, readArguments, readSecret, result, wholeNumber } from './command.ts'
import { choosePipe, connect } from './settings.ts'

const usage =
  'links create --title <title> [--message <text>] [--pipe <id>] [--expires <time>] [--max-files <count>]\n' +
  '      [--max-bytes <bytes>] [--type <media type>]… [--notify <email>] [--receipts] [--password] [--json]   (prompts for the password, or reads it from standard input)\n' +
  '  links list [--pipe <id>] [--json]\n' +
  '  links close <link id> [--json]'

type Link = Awaited<ReturnType<Sluice['showUploadLink']>>

/** Manages upload links: pages where people without an account upload files. */
export const links: Command = {
  usage,
  about: 'Create, list and close upload links',
  async run(args) {
    const { values, positionals } = readArguments(args, usage, {
      pipe: { type: 'string' },
      title: { type: 'string' },
      message: { type: 'string' },
      expires: { type: 'string' },
      'max-files': { type: 'string' },
      'max-bytes': { type: 'string' },
      type: { type: 'string', multiple: true },
      notify: { type: 'string' },
      receipts: { type: 'boolean' },
      password: { type: 'boolean' },
    })
    const { json } = values
    const [verb, id, ...more] = positionals
    if (verb === 'create' && id === undefined) return create(values)
    if (verb === 'list' && id === undefined) return list(values.pipe, json)
    if (verb === 'close' && id !== undefined && more.length === 0) {
      const link = await connect().changeUploadLink({ id, closed: true })
      return result(json, link, `${link.title} is closed. Uploads in progress continue.`)
    }
    throw misused('Use `links create`, `links list` or `links close <link id>`.', usage)
  },
}

type Given = {
  pipe?: string
  title?: string
  message?: string
  expires?: string
  'max-files'?: string
  'max-bytes'?: string
  type?: string[]
  notify?: string
  receipts?: boolean
  password?: boolean
  json?: boolean
}

async function create(given: Given): Promise<void> {
  const { title, message, expires, 'max-files': maxFiles, 'max-bytes': maxBytes, type, notify, json } = given
  if (!title) throw misused('Set a title with --title.', usage)
  const limits = {
    maxFiles: wholeNumber('max-files', maxFiles, usage),
    maxBytes: wholeNumber('max-bytes', maxBytes, usage),
  }
  const pipeId = await choosePipe(given.pipe)
  const made = await connect().createUploadLink({
    pipeId,
    title,
    ...(message && { message }),
    ...(expires && { expiresAt: expires }),
    ...limits,
    ...(type && { allowedTypes: type }),
    ...(notify && { notifyEmail: notify }),
    ...(given.receipts && { receipts: true }),
    ...(given.password && { password: await readSecret('Password for the link: ') }),
  })
  result(json, made, made.url)
}

async function list(pipe: string | undefined, json: boolean | undefined): Promise<void> {
  const pipeId = await choosePipe(pipe)
  for await (const link of connect().listUploadLinks({ pipeId, limit: 100 })) result(json, link, lineOf(link))
}

function lineOf({ id, title, state, filesCreated, maxFiles }: Link): string {
  const files = maxFiles === null ? `${filesCreated} files` : `${filesCreated} of ${maxFiles} files`
  return `${id}  ${state.padEnd(9)}  ${files}  ${title}`
}
