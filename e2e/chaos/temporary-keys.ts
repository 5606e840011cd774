import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import type { BucketBehind } from '../../test/support/forward.ts'
import { signedAtMs, startTrustingCloud } from '../../test/support/trusting-cloud.ts'
import type { Log } from './log.ts'

/**
 * A cloud in front of the bucket, which exchanges Sluice's statements for keys that last 20 seconds, and observes how
 * each process uses them.
 */
const LIFETIME_SECONDS = 20

/** Each Data Store has its own role, which trusts statements about this Data Store only. */
export const roleOf = (bucket: string) => `arn:aws:iam::123456789012:role/${bucket}`
export type Trust = { issuer: string; subjects: Record<string, string> }

export type KeysReport = {
  served: number
  exchanges: number
  /** Exchanges by a process that had already made one for the same Data Store. */
  renewals: number
  /** The most exchanges that a process had open at once for one Data Store. */
  mostAtOnce: number
  refusals: Refusal[]
}
/** A request whose keys had ended when it arrived, or were never issued. */
type Refusal = { request: string; signedAtMs: number; arrivedAtMs: number; endedAtMs: number | undefined }

export async function openCloud(bucket: BucketBehind) {
  const cloud = await startTrustingCloud(systemClock, { issuer: '', subject: '' }, { bucket })
  cloud.lifetimeSeconds = LIFETIME_SECONDS
  const requesters = new Set<string>()
  const refusals: Refusal[] = []
  let renewals = 0
  cloud.requesterOf = ({ socket }, form) => {
    const requester = `${processAt(socket) ?? `port ${socket.remotePort}`} ${form.get('RoleArn')}`
    if (requesters.has(requester)) renewals += 1
    requesters.add(requester)
    return requester
  }
  cloud.onRefusal = (request, issued) => {
    refusals.push({
      request: `${request.method} ${request.url}`,
      signedAtMs: signedAtMs(request),
      arrivedAtMs: Date.now(),
      endedAtMs: issued?.endsAtMs,
    })
  }
  const report = (): KeysReport => {
    const { served, issuing } = cloud
    return { served, exchanges: issuing.requests, renewals, mostAtOnce: issuing.most, refusals }
  }
  return { endpoint: cloud.endpoint, trust: cloud.trust, report }
}

/** Finds the process at the other end of a connection. Undefined if it has ended. */
function processAt({ remotePort, localPort }: Socket): string | undefined {
  const ends = [remotePort, localPort].map(
    (port = 0) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`,
  )
  const connections = readFileSync('/proc/net/tcp', 'utf8').split('\n')
  const fields = connections.map((line) => line.trim().split(/\s+/))
  const own = fields.find(([, near, far]) => near?.endsWith(ends[0]!) && far?.endsWith(ends[1]!))
  const owns = (pid: string) =>
    unlessGone(() => readdirSync(`/proc/${pid}/fd`))?.some(
      (fd) => unlessGone(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) === `socket:[${own![9]}]`,
    )
  return own && readdirSync('/proc').find((name) => /^\d+$/.test(name) && owns(name))
}

function unlessGone<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Keys may only end on the way to the bucket if something was frozen or failed at that moment. */
export function checkTemporaryKeys(report: KeysReport, log: Log, forMs: number): void {
  const { served, exchanges, renewals, mostAtOnce, refusals } = report
  log.count('requests with temporary keys', served)
  log.count('exchanges for temporary keys', exchanges)
  log.count('exchanges that renewed keys', renewals)
  if (mostAtOnce > 1) log.violation(`a process made ${mostAtOnce} exchanges for one Data Store at once`)
  for (const { request, signedAtMs, arrivedAtMs, endedAtMs = 0 } of refusals) {
    const wasStruck = log.outages.some(({ fromMs, toMs }) => fromMs < arrivedAtMs && toMs > signedAtMs)
    if (signedAtMs < endedAtMs && wasStruck) log.count('requests whose keys ended on the way')
    else
      log.violation(
        `${request} was signed at ${signedAtMs} and arrived at ${arrivedAtMs}, with keys that ended at ${endedAtMs}`,
      )
  }
  if (renewals < forMs / (LIFETIME_SECONDS * 1000)) log.violation(`keys were only renewed ${renewals} times`)
}
