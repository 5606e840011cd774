import { headers } from 'next/headers'
import { cache } from 'react'
import { type Texts, textsIn } from '#lib/upload-links/link-texts.ts'

/** The texts in the visitor's language. Only pages that the server marks as translated have any but English ones. */
export const readTexts = cache(async (): Promise<Texts> => {
  const request = await headers()
  const wanted = request.get('x-translated') === 'true' ? wantedIn(request.get('accept-language') ?? '') : []
  return textsIn(wanted)
})

/** The languages in an Accept-Language header, the most wanted first. */
export function wantedIn(header: string): string[] {
  const entries = header.split(',').map((entry) => {
    const [tag = '', weight] = entry.split(';').map((part) => part.trim())
    return { tag, weight: Number(weight?.replace(/^q=/i, '') ?? 1) }
  })
  const wanted = entries.filter(({ weight }) => weight > 0)
  return wanted.toSorted((a, b) => b.weight - a.weight).map(({ tag }) => tag)
}
