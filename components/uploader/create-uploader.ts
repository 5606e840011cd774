import { createUploads, type FileUpload, UploadFailure } from '#packages/react/src/index.ts'
import { formatBytes } from '../format.ts'
import { createBadNetwork } from './bad-network.ts'
import { afterAnswer, afterUpload, note, SILENT, type Wire, type WireLine } from './wire.ts'

/**
 * Uploads with @sluice/react on a network that can fail, with every response recorded. `slow` sends small chunks with
 * pauses, to leave time to interfere.
 */
export type TokenSource = () => Promise<
  { id: string; token: string; expiresAt: string } | { refused: string; status: number }
>
export type Uploader = ReturnType<typeof createUploader>

type Options = { place: string; endpoint: string; remember: boolean; takeToken: TokenSource }

const SLOW_CHUNK_BYTES = 512 * 1024
const SLOW_PAUSE_MS = 250

export function createUploader({ place, endpoint, remember, takeToken }: Options) {
  const watchers = new Set<() => void>()
  let wire: Wire = SILENT
  let shown: FileUpload | undefined
  let slow = true
  let tokenId: string | undefined

  const change = (next: Wire) => {
    wire = next
    for (const tell of watchers) tell()
  }
  const say = (text: string, tone: WireLine['tone'] = 'plain') => change(note(wire, text, tone, Date.now()))
  const network = createBadNetwork(() => {
    const { confirmedBytes } = wire
    const left = confirmedBytes > 0 ? `${formatBytes(confirmedBytes)} confirmed` : 'no bytes confirmed yet'
    say(`the connection was cut, ${left}`, 'bad')
  })

  const uploads = createUploads({
    place,
    ...(remember ? {} : { keepBytes: 0 }),
    parallel: 1,
    async getToken() {
      const taken = await network.call(takeToken)
      if ('refused' in taken) throw new UploadFailure(taken.refused, taken.status)
      tokenId = taken.id
      say('backend → a new token')
      return { ...taken, uploadUrl: endpoint }
    },
    transport: {
      fetch: network.fetch,
      /** A change to the chunk size takes effect with the next upload. */
      get chunkBytes() {
        return slow ? SLOW_CHUNK_BYTES : undefined
      },
      async beforeSend(xhr, method, signal) {
        if (slow && method === 'PATCH') await sleep(SLOW_PAUSE_MS)
        if (!signal.aborted) network.send(xhr)
      },
      onAnswer: (answer) => change(afterAnswer(wire, answer, Date.now())),
    },
  })
  uploads.watch(() => {
    const now = uploads.uploads()
    const latest = now.find(({ state }) => state === 'uploading' || state === 'waiting')
    const told = latest ?? now.find(({ id }) => id === shown?.id)
    if (!told || told === shown) return
    if (told.id !== shown?.id) wire = SILENT
    shown = told
    change(afterUpload(wire, told, Date.now()))
  })

  return {
    uploads,
    watch(tell: () => void) {
      watchers.add(tell)
      return () => void watchers.delete(tell)
    },
    wire: () => wire,
    cut() {
      if (!network.cut()) say('nothing is being sent, so the next request will be cut')
    },
    setDown(down: boolean) {
      network.setDown(down)
      say(down ? 'offline' : 'online again', down ? 'bad' : 'plain')
    },
    setSlow(on: boolean) {
      slow = on
    },
    tokenId: () => tokenId,
    say,
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
