import type { Readable } from 'node:stream'
import type { Refusal } from './s3-error.ts'
import { writeXml, type XmlElement } from './xml.ts'

export interface Answer {
  status: number
  headers: Record<string, string>
  body?: string | Readable
  /** The S3 error code, for an error response. */
  code?: string
}

export function emptyAnswer(status: number, headers: Record<string, string> = {}): Answer {
  return { status, headers }
}

export function xmlAnswer(root: XmlElement, headers: Record<string, string> = {}): Answer {
  return { status: 200, headers: { ...headers, 'content-type': 'application/xml' }, body: writeXml(root) }
}

export function refusalAnswer({ status, code, message, facts }: Refusal, resource: string): Answer {
  const more = Object.entries(facts).map(([name, value]): XmlElement => [name, value])
  const root: XmlElement = ['Error', [['Code', code], ['Message', message], ['Resource', resource], ...more]]
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: writeXml(root, { namespace: false }),
    code,
  }
}
