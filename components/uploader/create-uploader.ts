import Uppy from '@uppy/core'
import GoldenRetriever from '@uppy/golden-retriever'
import Tus from '@uppy/tus'
import { createBadNetwork } from './bad-network.ts'
import { tellFailure } from './tell-failure.ts'
import { afterAnswer, note, SILENT, type Wire, type WireLine } from './wire.ts'

/**
 * The uploader of the Embed page with its eyes open: the same plugins and options, on a network that can fail,
 * and with every answer noted. `slow` sends small chunks with pauses, so that there is time to interfere.
 */
export type TokenSource = () => Promise<{ id: string; token: string; expiresAt: string }>
export type Uploader = ReturnType<typeof createUploader>

type Options = { id: string; endpoint: string; remember: boolean; takeToken: TokenSource }

const RENEW_BEFORE_MS = 60_000
/** As the Embed page says: a larger file must be picked again after a reload. The plugin's types do not know these limits. */
const REMEMBERED: { indexedDB: object } = { indexedDB: { maxFileSize: 1024 ** 3, maxTotalSize: 1024 ** 3 } }
const SLOW_CHUNK_BYTES = 512 * 1024
const SLOW_PAUSE_MS = 250

export function createUploader({ id, endpoint, remember, takeToken }: Options) {
  const network = createBadNetwork()
  const watchers = new Set<() => void>()
  let wire: Wire = SILENT
  let slow = true
  let current: Awaited<ReturnType<TokenSource>> | undefined

  const change = (next: Wire) => {
    wire = next
    for (const tell of watchers) tell()
  }
  const say = (text: string, tone: WireLine['tone'] = 'plain') => change(note(wire, text, tone, Date.now()))

  async function uploadToken(): Promise<string> {
    if (!current || Date.parse(current.expiresAt) - Date.now() < RENEW_BEFORE_MS) {
      current = await takeToken()
      say('backend → a fresh token')
    }
    return current.token
  }

  const uppy = new Uppy({ id, autoProceed: false })
  if (remember) uppy.use(GoldenRetriever, REMEMBERED)
  uppy.use(Tus, {
    endpoint,
    retryDelays: [0, 1000, 3000, 5000],
    removeFingerprintOnSuccess: true,
    allowedMetaFields: ['name', 'type'],
    chunkSize: SLOW_CHUNK_BYTES,
    async onBeforeRequest(request) {
      const xhr = request.getUnderlyingObject() as XMLHttpRequest
      const isGivenUp = watchAbort(xhr)
      const pace = slow && request.getMethod() === 'PATCH' ? SLOW_PAUSE_MS : 0
      if (pace) await new Promise((resolve) => setTimeout(resolve, pace))
      await network.up()
      // A HEAD that is refused makes the client begin anew, so it goes with a token of just now.
      if (request.getMethod() === 'HEAD') current = undefined
      request.setHeader('Authorization', `Bearer ${await uploadToken()}`)
      // Paused or removed meanwhile: nobody waits for it any more, and it would go without its headers.
      if (isGivenUp()) await new Promise(() => {})
      network.send(xhr)
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
    onShouldRetry(error, _attempt, _options, next) {
      if (error.originalResponse?.getStatus() === 401) {
        current = undefined
        return true
      }
      return next(error)
    },
  })
  uppy.on('upload-start', (files) => {
    const file = files[0]
    if (file) change({ ...SILENT, filename: file.name, totalBytes: file.size ?? 0 })
  })
  uppy.on('upload-progress', (file, progress) => {
    const totalBytes = progress.bytesTotal ?? file?.size ?? 0
    change({
      ...wire,
      filename: file?.name ?? wire.filename,
      totalBytes,
      sentBytes: progress.bytesUploaded || 0,
    })
  })
  uppy.on('upload-success', () => change({ ...wire, done: true, confirmedBytes: wire.totalBytes }))
  uppy.on('upload-error', (_file, error, response) => {
    const answer = response?.body?.xhr as XMLHttpRequest | undefined
    say(tellFailure(error.message, answer?.responseText), 'bad')
    change({ ...wire, failed: true })
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
    tokenId: () => current?.id,
    say,
  }
}

/** A request that is aborted before it was sent tells nobody. */
function watchAbort(xhr: XMLHttpRequest): () => boolean {
  const abort = xhr.abort.bind(xhr)
  let aborted = false
  xhr.abort = () => {
    aborted = true
    abort()
  }
  return () => aborted
}
