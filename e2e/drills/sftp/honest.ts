import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reply } from '../../../test/support/http-call.ts'
import { connectSftp } from '../../../test/support/sftp-site.ts'
import type { TusClient } from '../../../test/support/tus-client.ts'

const MiB = 1024 * 1024
/** Simulates a browser with a connection of 2 MiB/s. */
const PIECE_BYTES = MiB
const PIECE_EVERY_MS = 500
const HEAD_EVERY_MS = 100
const PARTNER_EVERY_MS = 1000

/** What honest clients experience: response times in milliseconds, and how many of a partner's sign-ins succeeded. */
export type Noticed = { heads: number[]; pieces: number[]; partner: { well: number; failed: string[] } }

type Place = { tus: TusClient; sftp: { port: number; pipe: { id: string } }; token: string; pieces: number }

const nothing = (): Noticed => ({ heads: [], pieces: [], partner: { well: 0, failed: [] } })

/**
 * Starts a browser that uploads one file by TUS, a client that requests another file's offset, and a partner who
 * repeatedly signs in by SFTP to upload a small file. They continue until `end`, which returns the browser's file and
 * its URL.
 */
export async function startHonest({ tus, sftp, token, pieces }: Place) {
  const whole = randomBytes(pieces * PIECE_BYTES)
  const { location: url } = (await tus.create(whole.length)).headers
  const { location: asked } = (await tus.create(2 * MiB)).headers
  let noticed = nothing()
  let sentBytes = 0
  let isOver = false
  const failures: string[] = []

  const timed = async (times: (now: Noticed) => number[], work: () => Promise<Reply>) => {
    const sinceMs = performance.now()
    const reply = await work()
    times(noticed).push(performance.now() - sinceMs)
    if (reply.status >= 300) failures.push(`status ${reply.status}`)
    return reply
  }
  const sendPiece = async () => {
    const piece = whole.subarray(sentBytes, sentBytes + PIECE_BYTES)
    const { status } = await timed(
      (now) => now.pieces,
      () => tus.patch(url!, sentBytes, piece),
    )
    if (status === 204) sentBytes += piece.length
    else sentBytes = Number((await tus.head(url!)).headers['upload-offset'] ?? sentBytes)
  }
  const every = async (ms: number, work: () => Promise<unknown>, goesOn = () => true) => {
    while (!isOver && goesOn()) {
      const nextMs = performance.now() + ms
      await work().catch((error: unknown) => void failures.push(String(error)))
      await sleep(Math.max(0, nextMs - performance.now()))
    }
  }
  const visit = async () => {
    try {
      const client = await connectSftp(sftp, token, { localAddress: '127.0.9.9', readyTimeout: 20_000 })
      await client.put(`partner-${randomBytes(4).toString('hex')}.bin`, randomBytes(10_000))
      await client.end()
      noticed.partner.well += 1
    } catch (error) {
      noticed.partner.failed.push((error as Error).message)
    }
  }
  const head = () =>
    timed(
      (now) => now.heads,
      () => tus.head(asked!),
    )
  const working = [
    every(PIECE_EVERY_MS, sendPiece, () => sentBytes < whole.length),
    every(HEAD_EVERY_MS, head),
    every(PARTNER_EVERY_MS, visit),
  ]
  return {
    failures,
    /** Returns the measurements since the last call. */
    take(): Noticed {
      const taken = noticed
      noticed = nothing()
      return taken
    },
    /** Sends the rest of the file. */
    async end() {
      isOver = true
      await Promise.all(working)
      while (sentBytes < whole.length) await sendPiece()
      return { url: url!, whole }
    },
  }
}
