/** Reads `Name: value` lines, or a JSON object, as many tools show headers. Returns the names in lower case. */
export function readHeaders(text: string): Record<string, string> {
  const pairs = fromJson(text) ?? text.split('\n').map((line) => line.split(/:(.*)/s, 2))
  return Object.fromEntries(
    pairs.flatMap(([name, value]) =>
      name && value !== undefined ? [[name.trim().toLowerCase(), String(value).trim()]] : [],
    ),
  )
}

function fromJson(text: string): (string | undefined)[][] | undefined {
  if (!text.trim().startsWith('{')) return undefined
  try {
    return Object.entries(JSON.parse(text) as Record<string, string>)
  } catch {
    return undefined
  }
}

const AROUND = 24

/** Describes where a body first differs from what was sent; undefined if it is the same. */
export function differenceOf(received: string, sent: string): string | undefined {
  if (received === sent) return undefined
  if (received.trim() === sent) return 'The same, except for leading or trailing whitespace.'
  if (sameJson(received, sent))
    return 'The same JSON, re-serialized by a JSON parser. Verify the raw bytes of the request instead.'
  let at = 0
  while (at < Math.min(received.length, sent.length) && received[at] === sent[at]) at += 1
  const show = (text: string) => JSON.stringify(text.slice(Math.max(0, at - AROUND), at + AROUND))
  return `It differs from character ${at + 1}: sent ${show(sent)}, received ${show(received)}.`
}

function sameJson(one: string, other: string): boolean {
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other))
  } catch {
    return false
  }
}
