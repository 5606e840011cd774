import { parseEnv } from 'node:util'
import { settings } from '../../lib/platform/settings/settings.ts'

/** Names in an `.env` file that this version does not read, each with the setting that was probably meant. */
export type Unread = { name: string; meant: string | undefined }

export function unreadSettings(text: string, known: readonly string[] = Object.keys(settings)): Unread[] {
  const given = Object.keys(parseEnv(text)).sort()
  return given.filter((name) => !known.includes(name)).map((name) => ({ name, meant: nearest(name, known) }))
}

/** The known name that shares the most words with this one. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const words = new Set(name.split('_'))
  const shared = known.map((other) => {
    const others = other.split('_')
    const common = others.filter((word) => words.has(word)).length
    return { other, share: common / (words.size + others.length - common) }
  })
  const best = shared.reduce((one, other) => (other.share > one.share ? other : one))
  return best.share >= 0.5 ? best.other : undefined
}
