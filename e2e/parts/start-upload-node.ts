import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { UploadNodeOptions } from './upload-node.ts'

export type UploadNode = {
  url: string
  port: number
  pid: number
  signal(name: NodeJS.Signals): void
  /** Resolves when it ended, however. */
  ended: Promise<unknown>
  stop(): Promise<void>
}

const PROGRAM = new URL('./upload-node.ts', import.meta.url).pathname

export async function startUploadNode(options: UploadNodeOptions, flags: string[] = []): Promise<UploadNode> {
  const args = [...flags, PROGRAM, JSON.stringify(options)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => {
        output += text
        const ready = output.match(/^ready (\S+)$/m)
        if (ready) resolve(ready[1]!)
      })
    ended.then(([code]) => reject(new Error(`the node ended with ${code}:\n${output}`)))
  })
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid!,
    signal: (name) => void child.kill(name),
    ended,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGCONT')
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** A dead node's leases lapse soon, so that a test does not wait for them. */
export const SHORT_TERMS = { leaseMs: 1500, renewMs: 300, marginMs: 300, turnMs: 300 }
