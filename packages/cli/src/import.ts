import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import type { Sluice } from '../../node/src/client.ts'
import { type Command, EXIT, Failure, misused, readArguments, result, say } from './command.ts'
import { choosePipe } from './settings.ts'
import { sender } from './upload-token.ts'

const usage =
  'import <url…, or - to read them from standard input> [--pipe <id>] [--subject <id>] [--batch <name>] [--no-wait] [--json]'
const AT_ONCE = 1000
const LOOK_MS = 1000

type Imported = Awaited<ReturnType<Sluice['showImport']>>
type Open = { id: string; url: string }

/**
 * Has Sluice fetch files from URLs, and waits for them. The imports continue even if this process ends. It is safer to
 * read a signed URL from standard input: everyone on this machine can see the arguments of its processes.
 */
export const importCommand: Command = {
  usage,
  about: 'Import files from URLs',
  async run(args) {
    const { values, positionals } = readArguments(args, usage, {
      pipe: { type: 'string' },
      subject: { type: 'string' },
      batch: { type: 'string' },
      'no-wait': { type: 'boolean', default: false },
    })
    const urls = await readUrls(positionals)
    if (urls.length === 0) throw misused('Specify at least one URL.', usage)
    const { subject, batch } = values
    if (batch === '') throw misused('The batch needs a name.', usage)
    const sluice = await sender()
    const common = {
      pipeId: await choosePipe(values.pipe),
      ...(subject && { subject }),
      ...(batch && { batch }),
    }
    const made: Open[] = []
    for (let at = 0; at < urls.length; at += AT_ONCE) {
      const files = urls.slice(at, at + AT_ONCE).map((url) => ({ url }))
      const { data } = await sluice.createImports({ ...common, files })
      made.push(...data.map(({ id }, n) => ({ id, url: files[n]!.url })))
    }
    if (batch) await sluice.sealNamedBatch({ ...common, batch })
    if (values['no-wait']) {
      for (const { id, url } of made) result(values.json, { fileId: id, url }, id)
      return
    }
    const failed = await follow(sluice, made, values.json)
    if (failed > 0) throw new Failure(`${failed} of ${made.length} were not imported.`, EXIT.failed)
  },
}

async function readUrls(given: string[]): Promise<string[]> {
  if (!given.includes('-')) return given
  const lines = (await text(process.stdin)).split('\n').map((line) => line.trim())
  return [...given.filter((url) => url !== '-'), ...lines.filter(Boolean)]
}

/** Reports each import when it has ended, and the reason for each retry. Returns how many failed. */
async function follow(sluice: Sluice, made: Open[], json = false): Promise<number> {
  const open = new Map(made.map((one) => [one.id, one]))
  const offsets = new Map<string, number>()
  const retries = new Map<string, number>()
  const terminal = process.stderr.isTTY && !json
  let failed = 0
  for (;;) {
    for (const { id, url } of [...open.values()]) {
      const file = await sluice.showImport({ id })
      offsets.set(id, file.offset)
      const { failures } = file.import
      const isOpen = file.status === 'uploading' || file.status === 'transferring'
      if (isOpen && failures === (retries.get(id) ?? 0)) continue
      retries.set(id, failures)
      if (terminal) process.stderr.write('\r\x1b[K')
      if (isOpen) {
        tellRetry(file.import)
        continue
      }
      open.delete(id)
      if (!tell(file, url, json)) failed += 1
    }
    if (open.size === 0) return failed
    const bytes = [...offsets.values()].reduce((sum, offset) => sum + offset, 0)
    if (terminal)
      process.stderr.write(
        `\r\x1b[K${made.length - open.size} of ${made.length} imported, ${(bytes / 1e6).toFixed(1)} MB`,
      )
    await wait(LOOK_MS)
  }
}

/** Reports that an import is being retried, which does not count as a failure. */
function tellRetry({ url, failures, lastError, nextAttemptAt }: Imported['import']): void {
  if (failures > 0 && lastError !== null && nextAttemptAt !== null)
    say(`${url}: ${lastError} Next attempt at ${nextAttemptAt}.`)
}

/** Reports how an import ended. True if the file was transferred. */
function tell(file: Imported, url: string, json: boolean): boolean {
  const { id, filename, size, status, failureReason } = file
  const isThere = status === 'transferred' || status === 'partially_transferred'
  const told = { fileId: id, url, filename, size, status, ...(failureReason && { failureReason }) }
  if (json) result(true, told, '')
  else if (isThere) say(`${filename}: ${size} bytes`)
  else say(`${file.import.url}: ${status}${failureReason ? `, ${failureReason}` : ''}`)
  return isThere
}
