import type { IncomingMessage } from 'node:http'
import { SluiceError } from '../../lib/platform/kernel/errors.ts'

/**
 * What may call a server action must come from a page of the same host: the browser sends the cookies along with it.
 * Next refuses others too, but with the same answer as for what it cannot read. Without an Origin it was no browser.
 */
export function refuseCrossSite({ method, headers }: IncomingMessage): void {
  const { origin, host } = headers
  const isForm = /^multipart\/form-data/i.test(headers['content-type'] ?? '')
  if (method !== 'POST' || !(isForm || headers['next-action'] !== undefined)) return
  if (origin === undefined || hostOf(origin) === host) return
  throw new SluiceError(
    'cross_site_request',
    'This form was sent by a page of another site, so nothing was done. Open the page on this site and send it from there.',
  )
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
