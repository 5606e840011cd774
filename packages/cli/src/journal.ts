import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settingsFolder } from './settings.ts'

/**
 * A line of the journal: an upload that is about to be created, that has started, or that has finished in a run that is
 * not over. If the process is killed, at most the line being written is lost.
 */
type Entry = { file: string; key?: string; url?: string; done?: true; at: number }

/** Entries older than this are dropped. */
const KEPT_MS = 7 * 24 * 3_600_000

export type Journal = {
  urlOf(file: string): string | undefined
  isDone(file: string): boolean
  /** The Idempotency-Key of an upload whose creation had no response yet. */
  keyOf(file: string): string | undefined
  /** Returns the key for the upload's first creation. */
  create(file: string): string
  begin(file: string, url: string): void
  finish(file: string): void
  /** The next run creates the upload again, with another key. */
  startOver(file: string): void
  /** Removes these files, so that the next run uploads them from the start. */
  forget(files: string[]): void
}

export function openJournal(): Journal {
  const path = join(settingsFolder(), 'uploads.jsonl')
  mkdirSync(settingsFolder(), { recursive: true, mode: 0o700 })
  const entries = readEntries(path)
  const write = (entry: Entry) => {
    entries.set(entry.file, entry)
    appendFileSync(path, `${JSON.stringify(entry)}\n`, { mode: 0o600 })
  }
  return {
    urlOf: (file) => entries.get(file)?.url,
    isDone: (file) => entries.get(file)?.done === true,
    keyOf: (file) => entries.get(file)?.key,
    create(file) {
      const key = randomUUID()
      write({ file, key, at: Date.now() })
      return key
    },
    begin: (file, url) => write({ file, url, at: Date.now() }),
    finish: (file) => write({ file, done: true, at: Date.now() }),
    startOver: (file) => write({ file, at: Date.now() }),
    forget(files) {
      const kept = readEntries(path)
      for (const file of files) kept.delete(file)
      const text = [...kept.values()].map((entry) => `${JSON.stringify(entry)}\n`).join('')
      writeFileSync(`${path}.${process.pid}`, text, { mode: 0o600 })
      renameSync(`${path}.${process.pid}`, path)
    },
  }
}

function readEntries(path: string): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  for (const line of readLines(path)) {
    try {
      const entry: Entry = JSON.parse(line)
      if (entry.at > Date.now() - KEPT_MS) entries.set(entry.file, entry)
    } catch {}
  }
  return entries
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}
