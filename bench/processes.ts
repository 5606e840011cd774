import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export type Usage = { cpuSeconds: number; rssBytes: number }

export type Measured = {
  url: string
  usage(): Promise<Usage>
  stop(): Promise<void>
}

export type Sink = {
  url: string
  counts(): Promise<Record<string, number>>
  /** How often it was asked to complete an upload whose part numbers have a gap. */
  refusals(): Promise<number>
  stop(): Promise<void>
}

const here = (path: string) => join(import.meta.dirname, path)
const ENV = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', NODE_ENV: 'production' as const }

export async function startSink(): Promise<Sink> {
  const child = fork(here('./sink.ts'), { env: ENV })
  const { port } = await answer<{ port: number }>(child)
  const ask = () => {
    child.send('counts')
    return answer<{ counts: Record<string, number>; refusals: number }>(child)
  }
  return {
    url: `http://127.0.0.1:${port}`,
    counts: async () => (await ask()).counts,
    refusals: async () => (await ask()).refusals,
    stop: () => end(child),
  }
}

/** A process under measure: `file` tells its address by a message, or prints `ready <address>`. */
export async function startMeasured(
  file: string,
  env: Record<string, string>,
  flags: string[] = [],
): Promise<Measured> {
  const child = fork(here(file), {
    env: { ...ENV, ...env },
    // As `BENCH_NODE_FLAGS='--cpu-prof --cpu-prof-dir=/tmp/prof'`.
    execArgv: [
      ...['--import', new URL('./report-usage.ts', import.meta.url).href, ...flags],
      ...(process.env.BENCH_NODE_FLAGS?.split(' ') ?? []),
    ],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.on('message', (message: { url?: string }) => message.url && resolve(message.url))
    child.stdout!.on('data', (text) => {
      const ready = String(text).match(/^ready (\S+)$/m)
      if (ready) resolve(ready[1]!)
    })
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
  })
  return {
    url,
    async usage() {
      child.send('usage')
      return (await answer<{ usage: Usage }>(child)).usage
    },
    stop: () => end(child),
  }
}

async function answer<Message>(child: ChildProcess): Promise<Message> {
  const [message] = await once(child, 'message')
  return message as Message
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
