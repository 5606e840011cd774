import Uppy from '@uppy/core'
import GoldenRetriever from '@uppy/golden-retriever'
import Tus from '@uppy/tus'
import { Failure } from '#lib/client/failure.ts'
import { keepGoing } from '#lib/client/keep-going.ts'
import { createBadNetwork } from './bad-network.ts'
import { tellFailure } from './tell-failure.ts'
import { afterAnswer, note, SILENT, type Wire, type WireLine } from './wire.ts'

/**
 * The uploader of the Embed page with its eyes open: the same plugins and options, on a network that can fail,
 * and with every answer noted. `slow` sends small chunks with pauses, so that there is time to interfere.
 */
export type TokenSource = () => Promise<
  { id: string; token: string; expiresAt: string } | { refused: string; status: number }
>
export type Uploader = ReturnType<typeof createUploader>

type Options = { id: string; endpoint: string; remember: boolean; takeToken: TokenSource }

/** As the Embed page says: a larger file must be picked again after a reload. The plugin's types do not know these limits. */
const REMEMBERED: { indexedDB: object } = { indexedDB: { maxFileSize: 1024 ** 3, maxTotalSize: 1024 ** 3 } }
const SLOW_CHUNK_BYTES = 512 * 1024
const SLOW_PAUSE_MS = 250

export function createUploader({ id, endpoint, remember, takeToken }: Options) {
  const network = createBadNetwork()
  const watchers = new Set<() => void>()
  let wire: Wire = SILENT
  let slow = true
  let tokenId: string | undefined

  const change = (next: Wire) => {
    wire = next
    for (const tell of watchers) tell()
  }
  const say = (text: string, tone: WireLine['tone'] = 'plain') => change(note(wire, text, tone, Date.now()))

  const kept = keepGoing({
    async takeToken() {
      const taken = await network.call(takeToken)
      if ('refused' in taken) throw new Failure(taken.refused, taken.status)
      tokenId = taken.id
      say('backend → a fresh token')
      return taken
    },
    tell(reason) {
      if (reason !== wire.waiting) say(reason, 'bad')
      change({ ...wire, waiting: reason })
    },
    fetch: network.fetch,
    async beforeSend(request) {
      if (slow && request.getMethod() === 'PATCH') await sleep(SLOW_PAUSE_MS)
    },
  })

  const uppy = new Uppy({ id, autoProceed: false })
  if (remember) uppy.use(GoldenRetriever, REMEMBERED)
  uppy.use(Tus, {
    endpoint,
    ...kept,
    removeFingerprintOnSuccess: true,
    allowedMetaFields: ['name', 'type'],
    chunkSize: SLOW_CHUNK_BYTES,
    async onBeforeRequest(request, file) {
      await kept.onBeforeRequest(request, file)
      if (request.getMethod() !== 'HEAD') network.send(request.getUnderlyingObject())
    },
    onAfterResponse(request, response) {
      const offset = response.getHeader('Upload-Offset')
      const location = response.getHeader('Location')
      const answered = {
        method: request.getMethod(),
        url: location ?? request.getURL(),
        status: response.getStatus(),
        offset: offset === undefined || offset === null ? undefined : Number(offset),
      }
      change(afterAnswer(wire, answered, Date.now()))
    },
  })
  uppy.on('upload-start', (files) => {
    const file = files[0]
    if (file) change({ ...SILENT, filename: file.name, totalBytes: file.size ?? 0 })
  })
  uppy.on('upload-progress', (file, progress) => {
    const totalBytes = progress.bytesTotal ?? file?.size ?? 0
    const sentBytes = progress.bytesUploaded || 0
    const waiting = sentBytes > wire.sentBytes ? undefined : wire.waiting
    change({ ...wire, filename: file?.name ?? wire.filename, totalBytes, sentBytes, waiting })
  })
  uppy.on('upload-success', () =>
    change({ ...wire, done: true, waiting: undefined, confirmedBytes: wire.totalBytes }),
  )
  uppy.on('upload-error', (_file, error, response) => {
    const answer = response?.body?.xhr as XMLHttpRequest | undefined
    say(tellFailure(error.message, answer?.responseText), 'bad')
    change({ ...wire, waiting: undefined, failed: true })
  })

  return {
    uppy,
    watch(tell: () => void) {
      watchers.add(tell)
      return () => void watchers.delete(tell)
    },
    wire: () => wire,
    cut() {
      network.cut()
      say('the connection was cut', 'bad')
    },
    setDown(down: boolean) {
      network.setDown(down)
      say(down ? 'offline' : 'online again', down ? 'bad' : 'plain')
    },
    /** The size of chunks changes with the next upload. */
    setSlow(on: boolean) {
      slow = on
      uppy.getPlugin('Tus')?.setOptions({ chunkSize: on ? SLOW_CHUNK_BYTES : Number.POSITIVE_INFINITY })
    },
    tokenId: () => tokenId,
    say,
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
