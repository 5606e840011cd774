import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../../node/src/sluice-error.ts'
import { Failure } from './failure.ts'
import type { Journal } from './journal.ts'
import { type Answer, send } from './tus.ts'
import type { Tokens } from './upload-token.ts'

/** `relativePath`: of a file in a folder that was named, with the folder. */
export type LocalFile = {
  path: string
  relativePath?: string
  name: string
  size: number
  modifiedMs: number
}
type Way = {
  key: string
  tokens: Tokens
  journal: Journal
  /** How many bytes are there, confirmed or on their way. */
  onProgress(bytes: number): void
  onWait(reason: string): void
  /** What the owner's backend hands to the uploader of the finished file. */
  onResult(result: unknown): void
}

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 30_000
const MAX_REFUSED_TOKENS = 4
/** Such a file is sent with its creation, in one request. */
const SMALL_BYTES = 8 * 1024 * 1024
const PASSING = [408, 409, 423, 425, 429]
const GONE = [404, 410]

/** Until the last byte is confirmed, or something refuses for good. Answers with the address of the upload. */
export async function sendFile(file: LocalFile, way: Way): Promise<string> {
  let refusedTokens = 0
  for (let failures = 0; ; failures++) {
    const before = way.journal.urlOf(way.key)
    try {
      const { token, uploadUrl } = await way.tokens.take()
      const answer = before ? await goOn(file, before, token, way) : await begin(file, uploadUrl, token, way)
      if (answer === 'sent') return way.journal.urlOf(way.key)!
      if (answer === 'further') {
        failures = -1
        continue
      }
      if (answer.status === 401) way.tokens.refuse(token)
      refusedTokens = answer.status === 401 ? refusedTokens + 1 : 0
      if (isLasting(answer, refusedTokens)) throw new Failure(`${answer.status} ${answer.detail}`.trim())
      way.onWait(`The server answered ${answer.status}`)
    } catch (error) {
      if (error instanceof Failure || isRefused(error)) throw error
      way.onWait((error as Error).message)
    }
    await sleep(Math.min(FIRST_DELAY_MS * 2 ** failures, MAX_DELAY_MS))
  }
}

type Step = 'sent' | 'further' | Answer

async function begin(file: LocalFile, uploadUrl: string, token: string, way: Way): Promise<Step> {
  const small = file.size > 0 && file.size <= SMALL_BYTES
  const pairs = { filename: file.name, ...(file.relativePath && { relativePath: file.relativePath }) }
  const metadata = Object.entries(pairs)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
    .join(',')
  const headers = { 'Upload-Length': String(file.size), 'Upload-Metadata': metadata }
  let sent = 0
  const onBytes = (count: number) => {
    sent += count
    way.onProgress(sent)
  }
  const body = small ? { path: file.path, start: 0, end: file.size, onBytes } : undefined
  const answer = await send({ method: 'POST', url: uploadUrl, token, headers }, body)
  if (answer.status !== 201) return answer
  noteResult(answer, way)
  way.journal.begin(way.key, new URL(answer.headers.location!, uploadUrl).href)
  return file.size === 0 || (small && Number(answer.headers['upload-offset']) === file.size)
    ? 'sent'
    : 'further'
}

async function goOn(file: LocalFile, url: string, token: string, way: Way): Promise<Step> {
  const head = await send({ method: 'HEAD', url, token })
  if (GONE.includes(head.status)) {
    way.journal.forget([way.key])
    throw new Failure(`The upload of ${basename(file.path)} is gone; send it again.`)
  }
  if (head.status !== 200) return head
  noteResult(head, way)
  const start = Number(head.headers['upload-offset'])
  if (start === file.size) return 'sent'
  let sent = start
  way.onProgress(sent)
  const onBytes = (count: number) => {
    sent += count
    way.onProgress(sent)
  }
  const body = { path: file.path, start, end: file.size, onBytes }
  const headers = { 'Upload-Offset': String(start) }
  const answer = await send({ method: 'PATCH', url, token, headers }, body)
  if (answer.status !== 204) return answer
  noteResult(answer, way)
  return Number(answer.headers['upload-offset']) === file.size ? 'sent' : 'further'
}

function noteResult({ headers }: Answer, way: Way): void {
  const header = headers['sluice-result']
  if (typeof header === 'string') way.onResult(JSON.parse(Buffer.from(header, 'base64url').toString()))
}

function isLasting({ status }: Answer, refusedTokens: number): boolean {
  if (status === 401) return refusedTokens >= MAX_REFUSED_TOKENS
  return status < 500 && !PASSING.includes(status)
}

/** No token is given, and none will be. */
const isRefused = (error: unknown) =>
  error instanceof SluiceError && error.status !== undefined && error.status < 500 && error.status !== 429
