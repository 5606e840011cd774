import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, inject } from 'vitest'
import type { UploadNodeOptions } from './upload-node.ts'

export type UploadNode = {
  url: string
  port: number
  /** The port for SFTP uploads, if configured. */
  sftpPort: number | undefined
  pid: number
  signal(name: NodeJS.Signals): void
  /** Resolves when the node has exited, for any reason. */
  ended: Promise<unknown>
  stop(): Promise<void>
}

export async function startUploadNode(options: UploadNodeOptions, flags: string[] = []): Promise<UploadNode> {
  const programs = inject('programs')
  const args = [...flags, join(programs, 'upload-node.mjs'), JSON.stringify(options)]
  const env = { ...process.env, NODE_COMPILE_CACHE: join(programs, 'compile-cache') }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => {
        output += text
        const ready = output.match(/^ready (\S+)$/m)
        if (ready) resolve(ready[1]!)
      })
    ended.then(([code]) => reject(new Error(`the node exited with ${code}:\n${output}`)))
  })
  return {
    url,
    port: Number(new URL(url).port),
    sftpPort: Number(output.match(/^sftp (\d+)$/m)?.[1]) || undefined,
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

/** A dead node's leases expire quickly, so that tests do not have to wait long for them. */
export const SHORT_TERMS = { leaseMs: 1500, renewMs: 300, marginMs: 300, turnMs: 300 }

/** Returns a function that starts nodes with short terms on a test file's database. They stop after each test. */
export function nodesOn(database: () => { url: string }) {
  let nodes: UploadNode[] = []
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    nodes = []
  })
  return async (options: Partial<UploadNodeOptions> = {}): Promise<UploadNode> => {
    const node = await startUploadNode({ databaseUrl: database().url, terms: SHORT_TERMS, ...options })
    nodes.push(node)
    return node
  }
}
