import { UploadFailure } from '#packages/react/src/index.ts'

/** The API's response when a visitor opens an upload link. */
export type OpenedLink = {
  message: string
  upload: { token: string; expiresAt: string; uploadUrl: string; mayCreate: boolean } | null
}

export async function openLink(input: {
  code: string
  visitor: string
  password: string | undefined
}): Promise<OpenedLink> {
  return post('open', input)
}

/** Emails a receipt for the files in the visitor's batches that have arrived. */
export async function sendReceipt(input: {
  code: string
  visitor: string
  email: string
  language: string
  batches: string[]
}): Promise<void> {
  await post('open/receipt', input)
}

async function post(path: string, input: object) {
  const response = await fetch(`/api/v1/upload-links/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(input),
  })
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  const { detail = `The server responded with ${response.status}`, code = 'status' } = answer
  throw new UploadFailure(detail, response.status, code)
}

/** For browsers that store nothing; lasts as long as the page is open. */
const here = new Map<string, string>()

/** The secret that lets only this browser continue its uploads through a link after a reload. */
export function visitorOf(place: string): string {
  const known = knownVisitor(place)
  if (known) return known
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  const visitor = btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace('=', '')
  here.set(place, visitor)
  try {
    localStorage.setItem(keyOf(place), visitor)
  } catch {
    // The upload itself works without storage.
  }
  return visitor
}

/** Undefined if this browser has uploaded nothing through the link. */
export function knownVisitor(place: string): string | undefined {
  try {
    return localStorage.getItem(keyOf(place)) ?? here.get(place)
  } catch {
    return here.get(place)
  }
}

const keyOf = (place: string) => `sluice-visitor:${place}`
