import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Certificate } from '../test/support/certificates.ts'
import { usageOf } from './postgres-usage.ts'

export type Usage = { cpuSeconds: number; rssBytes: number }

export type Measured = {
  url: string
  pid: number
  usage(): Promise<Usage>
  stop(): Promise<void>
}

export type Sink = {
  url: string
  counts(): Promise<Record<string, number>>
  /** How often the sink was asked to complete an upload whose part numbers have a gap. */
  refusals(): Promise<number>
  stop(): Promise<void>
}

const here = (path: string) => resolve(import.meta.dirname, path)
export const COMPILED = here('../node_modules/.cache/bench')
const ENV = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', NODE_ENV: 'production' as const }

export async function startSink(tls?: Certificate): Promise<Sink> {
  const env = { ...ENV, ...(tls && { TLS_KEY: tls.key, TLS_CERT: tls.cert }) }
  const child = fork(here('./sink.ts'), { env })
  const { port } = await answer<{ port: number }>(child)
  const ask = () => {
    child.send('counts')
    return answer<{ counts: Record<string, number>; refusals: number }>(child)
  }
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    counts: async () => (await ask()).counts,
    refusals: async () => (await ask()).refusals,
    stop: () => end(child),
  }
}

/** Starts a process to measure, which sends its address in a message, or prints `ready <address>`. */
export async function startMeasured(
  file: string,
  env: Record<string, string>,
  flags: string[] = [],
): Promise<Measured> {
  const child = fork(here(file), {
    env: { ...ENV, ...env },
    execArgv: ['--import', pathToFileURL(compiled('./report-usage.ts')).href, ...flags],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.on('message', (message: { url?: string }) => message.url && resolve(message.url))
    child.stdout!.on('data', (text) => {
      const ready = String(text).match(/^ready (\S+)$/m)
      if (ready) resolve(ready[1]!)
    })
    child.once('exit', (code) => reject(new Error(`${file} exited with ${code}`)))
  })
  return {
    url,
    pid: child.pid!,
    async usage() {
      child.send('usage')
      return (await answer<{ usage: Usage }>(child)).usage
    },
    stop: () => end(child),
  }
}

/**
 * Returns the path of a program of one file as JavaScript: Node's TypeScript loader takes 15 MiB, which would be
 * measured as well.
 */
export function compiled(file: string): string {
  mkdirSync(COMPILED, { recursive: true })
  const path = join(COMPILED, `${basename(file, '.ts')}.mjs`)
  writeFileSync(path, stripTypeScriptTypes(readFileSync(here(file), 'utf8')))
  return path
}

/** Starts tusd, set up in front of S3 as in its documentation, with 8 MiB parts, on a port chosen by the system. */
export async function startTusd(
  program: string,
  sinkUrl: string,
  { trusted, tls }: { trusted?: string; tls?: Certificate },
): Promise<Measured> {
  const env = { ...ENV, AWS_ACCESS_KEY_ID: 'KEY', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'eu-west-1' }
  const child = spawn(
    program,
    [
      ...['-host', '127.0.0.1', '-port', '0', '-verbose=false', '-s3-bucket', 'media'],
      ...['-s3-endpoint', sinkUrl, '-s3-part-size', String(8 * 1024 * 1024)],
      ...(tls ? ['-tls-mode', 'tls13', '-tls-certificate', tls.cert, '-tls-key', tls.key] : []),
    ],
    { env: { ...env, ...(trusted && { SSL_CERT_FILE: trusted }) }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  child.stderr.resume()
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (text) => {
      const told = String(text).match(/upload files to: (\S+)\/files\//)
      if (told) resolve(told[1]!)
    })
    child.once('exit', (code) => reject(new Error(`tusd exited with ${code}`)))
  })
  return { url, pid: child.pid!, usage: async () => usageOf(child.pid!), stop: () => end(child) }
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
