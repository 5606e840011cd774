import { write, writeSync } from 'node:fs'

const WAITING_BYTES = 1024 * 1024
const RETRY_MS = 100

export type Output = { write(line: string): void }

/**
 * The log's file descriptor. Writing to it never throws, blocks or fails: if the disk is full or a pipe's reader is
 * slow, up to 1 MiB of lines waits in memory, and further lines are lost. `tellLost` gets their count once everything
 * that waited has been written.
 */
export function openOutput(tellLost: (lines: number) => void, fd = 1): Output {
  let waiting: string[] = []
  let waitingBytes = 0
  /** The rest of the bytes that are being written. */
  let current: Buffer = Buffer.alloc(0)
  let state: 'idle' | 'writing' | 'pausing' = 'idle'
  let lostLines = 0
  let isUsed = false

  const take = () => {
    current = Buffer.concat([current, Buffer.from(waiting.join(''))])
    waiting = []
    waitingBytes = 0
  }
  const writeOn = () => {
    if (current.length === 0) take()
    if (current.length === 0) return rest()
    state = 'writing'
    write(fd, current, (error, written) => {
      state = 'pausing'
      if (error) return void setTimeout(writeOn, RETRY_MS).unref()
      current = current.subarray(written)
      writeOn()
    })
  }
  const rest = () => {
    state = 'idle'
    if (lostLines === 0) return
    const lines = lostLines
    lostLines = 0
    tellLost(lines)
  }
  /** Nothing asynchronous runs in a process that exits. */
  const writeAll = () => {
    // The bytes of an unfinished write may still arrive, so they are not written again.
    if (state === 'writing') current = current.subarray(0, 0)
    take()
    try {
      while (current.length > 0) current = current.subarray(writeSync(fd, current))
    } catch {}
  }
  return {
    write(line) {
      if (!isUsed) process.once('exit', writeAll)
      isUsed = true
      const bytes = Buffer.byteLength(line)
      if (waitingBytes + bytes > WAITING_BYTES) {
        lostLines++
        return
      }
      waiting.push(line)
      waitingBytes += bytes
      if (state === 'idle') writeOn()
    },
  }
}
