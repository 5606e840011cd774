import type { LocalFile } from './send-file.ts'
import { shown } from './tell.ts'

const WIDTH = 30
const EVERY_MS = 100

export type Progress = {
  set(file: LocalFile, bytes: number): void
  wait(reason: string): void
  clear(): void
  end(): void
}

/** One bar for all files, on a terminal; elsewhere one line at the end. */
export function openProgress(files: LocalFile[], silent: boolean): Progress {
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const there = new Map<LocalFile, number>()
  const terminal = process.stderr.isTTY && !silent
  let sum = 0
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
    end() {
      clear()
      if (!silent) process.stderr.write(`${files.length} files, ${bar(sum, total)}\n`)
    },
  }
}

function bar(sum: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(sum / total, 1)
  const full = Math.round(share * WIDTH)
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${Math.floor(share * 100)} %  ${megabytes(sum)} of ${megabytes(total)}`
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
