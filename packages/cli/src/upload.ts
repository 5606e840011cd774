import { randomUUID } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { type Command, EXIT, Failure, misused, readArguments, result, say, shown } from './command.ts'
import { type Journal, openJournal } from './journal.ts'
import { type LocalFile, sendFile } from './send-file.ts'
import { choosePipe } from './settings.ts'
import { sender, type Tokens, tokensFor } from './upload-token.ts'

const usage =
  'upload <file or folder…> [--pipe <id>] [--batch <name>] [--parallel <1 to 16>] [--connections <1 to 8>] [--json]\n' +
  '  upload <file> --to <uploadUrl> [--json]   (created by your backend, with its token in SLUICE_UPLOAD_TOKEN)'
const MAX_AT_ONCE = 16
/** For large files: see `send-lanes.ts`. */
const MAX_CONNECTIONS = 8

/**
 * Uploads files, and folders with their contents. If it is killed, running it again continues at the byte where it
 * stopped.
 */
export const upload: Command = {
  usage,
  about: 'Upload files and folders; run it again to resume',
  async run(args) {
    const named = {
      pipe: { type: 'string' },
      batch: { type: 'string' },
      parallel: { type: 'string', default: String(MAX_AT_ONCE) },
      connections: { type: 'string', default: String(MAX_CONNECTIONS) },
      to: { type: 'string' },
    } as const
    const { values, positionals } = readArguments(args, usage, named)
    const parallel = countOf(values.parallel, 'parallel', MAX_AT_ONCE)
    const connections = countOf(values.connections, 'connections', MAX_CONNECTIONS)
    if (positionals.length === 0) throw misused('Specify at least one file or folder.', usage)
    const { batch, to } = values
    if (batch !== undefined && to !== undefined)
      throw misused('--batch does not work with --to: your backend chose the batch of its upload.', usage)
    if (batch === '') throw misused('The batch needs a name.', usage)
    const files = positionals.flatMap(findFiles)
    const way = to === undefined ? await again(values.pipe, batch) : preparedWay(to, files)
    const ofEach = Math.max(1, Math.floor(connections / Math.min(parallel, files.length)))
    const failed = await sendAll(files, { ...way, connections: ofEach }, parallel, values.json)
    const open = failed > 0 && batch !== undefined ? [`The batch ${batch} was not sealed by this run.`] : []
    if (failed > 0) throw new Failure(notUploaded(failed, files.length), EXIT.failed, open)
    await way.seal?.()
    way.journal.forget(files.map(way.keyOf))
    if (batch !== undefined && !values.json) say(`The batch ${batch} is sealed.`)
  },
}

function countOf(text: string, name: string, most: number): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= most) return count
  throw misused(`--${name} must be a whole number from 1 to ${most}.`, usage)
}

function notUploaded(failed: number, all: number): string {
  if (all === 1) return 'The file was not uploaded.'
  return `${failed} of ${all} files ${failed === 1 ? 'was' : 'were'} not uploaded.`
}

type Way = {
  tokens: Tokens
  journal: Journal
  keyOf(file: LocalFile): string
  /**
   * Seals the batch. Called only once all files have arrived, so that if this run is killed, the next one can add the
   * missing files.
   */
  seal?(): Promise<unknown>
}

async function again(pipe: string | undefined, batch: string | undefined): Promise<Way> {
  const pipeId = await choosePipe(pipe)
  const named = batch === undefined ? [] : [batch]
  return {
    tokens: tokensFor(pipeId, batch),
    journal: openJournal(),
    keyOf: ({ path, relativePath, size, modifiedMs }) =>
      JSON.stringify([pipeId, resolve(path), relativePath, size, modifiedMs, ...named]),
    ...(batch !== undefined && { seal: async () => (await sender()).sealNamedBatch({ pipeId, batch }) }),
  }
}

/** Keeps no journal: the address is passed each time, and the server knows how much has arrived. */
function preparedWay(uploadUrl: string, files: LocalFile[]): Way {
  const token = process.env.SLUICE_UPLOAD_TOKEN
  if (files.length !== 1) throw misused('--to sends exactly one file.', usage)
  if (!token) throw misused("Set SLUICE_UPLOAD_TOKEN to the upload's token.", usage)
  const nothing = () => {}
  return {
    tokens: { take: async () => ({ token, uploadUrl, expiresAt: '' }), refuse: nothing },
    journal: {
      urlOf: () => uploadUrl,
      isDone: () => false,
      keyOf: () => undefined,
      create: () => randomUUID(),
      begin: nothing,
      finish: nothing,
      startOver: nothing,
      forget: nothing,
    },
    keyOf: ({ path }) => path,
  }
}

async function sendAll(
  files: LocalFile[],
  { tokens, journal, keyOf, connections }: Way & { connections: number },
  parallel: number,
  json = false,
): Promise<number> {
  const progress = openProgress(files, json)
  const waiting = files.values()
  let failed = 0
  const work = async () => {
    for (const file of waiting) {
      const key = keyOf(file)
      const onProgress = (bytes: number) => progress.set(file, bytes)
      if (journal.isDone(key)) {
        onProgress(file.size)
        continue
      }
      try {
        let handed: unknown
        const onResult = (given: unknown) => {
          handed = given
        }
        const url = await sendFile(file, {
          key,
          tokens,
          journal,
          connections,
          onProgress,
          onWait: progress.wait,
          onResult,
        })
        journal.finish(key)
        onProgress(file.size)
        const sent = { file: file.path, fileId: url.split('/').at(-1), size: file.size }
        if (json) result(true, { ...sent, ...(handed !== undefined && { result: handed }) }, '')
        else if (handed !== undefined) {
          progress.clear()
          say(`${file.path}: ${JSON.stringify(handed)}`)
        }
      } catch (error) {
        failed += 1
        progress.fail(file)
        say(`${file.path}: ${(error as Error).message}`)
      }
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
  progress.end()
  return failed
}

function findFiles(path: string): LocalFile[] {
  try {
    if (!statSync(path).isDirectory()) return [localFile(path)]
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => {
        const inFolder = relative(dirname(resolve(path)), resolve(file))
        return { ...localFile(file), relativePath: inFolder.split(sep).join('/') }
      })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file or folder.' : `it cannot be read: ${message}`
    throw new Failure(`${path}: ${why}`, EXIT.misused)
  }
}

function localFile(path: string): LocalFile {
  const { size, mtimeMs } = statSync(path)
  return { path, name: basename(path), size, modifiedMs: mtimeMs }
}

const WIDTH = 30
const EVERY_MS = 100

export type Progress = {
  set(file: LocalFile, bytes: number): void
  wait(reason: string): void
  clear(): void
  /** Its bytes no longer count. */
  fail(file: LocalFile): void
  end(): void
}

/** One progress bar for all files on a terminal; otherwise one line at the end, unless all files have failed. */
export function openProgress(files: LocalFile[], silent: boolean): Progress {
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const there = new Map<LocalFile, number>()
  const terminal = process.stderr.isTTY && !silent
  let sum = 0
  let failed = 0
  let reason = ''
  let drawnMs = 0
  const clear = () => void (terminal && process.stderr.write('\r\x1b[K'))
  const draw = (nowMs = performance.now()) => {
    if (!terminal || nowMs - drawnMs < EVERY_MS) return
    drawnMs = nowMs
    process.stderr.write(`\r\x1b[K${bar(sum, total)}${reason && `  ${reason}`}`)
  }
  return {
    set(file, bytes) {
      sum += bytes - (there.get(file) ?? 0)
      there.set(file, bytes)
      reason = ''
      draw()
    },
    wait(why) {
      reason = `waiting: ${shown(why)}`
      draw()
    },
    clear,
    fail(file) {
      clear()
      failed += 1
      sum -= there.get(file) ?? 0
      there.delete(file)
    },
    end() {
      clear()
      if (silent || failed === files.length) return
      const arrived = failed > 0 ? `${files.length - failed} of ` : ''
      const all = files.length === 1 ? '1 file' : `${files.length} files`
      process.stderr.write(`${arrived}${all}, ${bar(sum, total)}\n`)
    },
  }
}

function bar(sum: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(sum / total, 1)
  const full = Math.round(share * WIDTH)
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${Math.floor(share * 100)}%  ${sizeOf(sum)} of ${sizeOf(total)}`
}

function sizeOf(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
