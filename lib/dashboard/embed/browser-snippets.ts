import { currentUppy } from './kit.ts'
import type { EmbedTarget } from './snippets.ts'

/**
 * The uploader for a page. Each gets its token from the page's own backend and renews it before it expires and after
 * a 401. It waits out temporary failures for as long as the upload lives, and continues after a reload. This is the
 * text of lib/client for people to copy: one test suite covers both, and the browser tests run these exact texts.
 */
/** Types are enclosed in « and » for the TypeScript version; the others omit them. */
const written = (text: string) => ({
  plain: text.replaceAll(/«[^»]*»/g, ''),
  typed: text.replaceAll(/[«»]/g, ''),
})

const keepGoing =
  written(`// Your backend returns {token, expiresAt}. A new token is requested a minute before the old one expires.
let current«: { token: string; expiresAt: string } | undefined»
async function uploadToken()«: Promise<string>» {
  if (!current || Date.parse(current.expiresAt) - Date.now() < 60_000) {
    const response = await fetch('/api/upload-token', { method: 'POST' })
    if (!response.ok) throw failure('No upload token', response.status)
    current = await response.json()
  }
  return current«!».token
}

// By default, tus-js-client counts every failure and gives up after a few, and it starts over if it cannot get the
// offset. So temporary failures are waited out here: a network, a server or a backend that is down.
function keepGoing(tell«: (reason: string) => void») {
  let lost = false
  return {
    retryDelays: [0, 1000, 3000, 5000, 10_000, ...Array(20_160).fill(30_000)], // for seven days
    async onBeforeRequest(request«: TusRequest», file«: { data: unknown }») {
      const aborted = new AbortController()
      const abort = request.abort
      request.abort = () => (aborted.abort(), abort.call(request))
      if (request.getMethod() === 'HEAD') {
        request.send = () => persist(() => askOffset(request.getURL(), file.data), aborted.signal, tell)
        return
      }
      if (lost && !navigator.onLine) {
        tell('Waiting for the network')
        await online(30_000)
      }
      const token = await persist(uploadToken, aborted.signal, tell)
      request.setHeader('Authorization', \`Bearer \${token}\`)
    },
    onShouldRetry(error«: TusDetailedError», attempt«: number») {
      const status = error.originalResponse?.getStatus()
      if (error.causingError && !passes(error.causingError)) return false
      lost = !status
      if (status === 401) {
        current = undefined // It expired or was revoked in the meantime.
        return attempt < 4
      }
      if (attempt > 0) tell(status ? \`The server answered: \${status}\` : 'Waiting for the network')
      return passes({ status })
    },
  }
}

const failure = (text«: string», status«: number») => Object.assign(new Error(\`\${text}: \${status}\`), { status })

// No status means no response. A file that has changed since it was picked cannot be sent.
const passes = ({ name, status }«: { name?: string; status?: number | undefined }») =>
  name !== 'NotReadableError' && (!status || status >= 500 || [408, 409, 423, 425, 429].includes(status))

// Until the browser reports that the network is back, which it does not always notice.
const online = (atMost«: number») =>
  new Promise«<void>»((resolve) => {
    setTimeout(resolve, atMost)
    addEventListener('online', () => resolve(), { once: true, signal: AbortSignal.timeout(atMost) })
  })

async function persist«<Answer>»(
  attempt«: () => Promise<Answer>»,
  signal«: AbortSignal»,
  tell«: (reason: string) => void»,
)«: Promise<Answer>» {
  for (let delay = 1000; ; delay = Math.min(delay * 2, 30_000)) {
    try {
      const answer = await attempt()
      if (!signal.aborted) return answer
    } catch (thrown) {
      const error = thrown« as Error & { status?: number }»
      if (!signal.aborted && !passes(error)) throw error
      if (!signal.aborted) tell(error.status ? error.message : 'Waiting for the network')
    }
    if (!signal.aborted) await online(delay)
    if (signal.aborted) return new Promise(() => {}) // Paused: a new request is made when it continues.
  }
}

async function askOffset(url«: string», data«: unknown», renewed«?: boolean»)«: Promise<TusResponse>» {
  if (data instanceof Blob) await data.slice(0, 1).arrayBuffer()
  const headers = { Authorization: \`Bearer \${await uploadToken()}\`, 'Tus-Resumable': '1.0.0' }
  const response = await fetch(url, { method: 'HEAD', headers })
  if (response.status === 401 && !renewed) {
    current = undefined
    return askOffset(url, data, true)
  }
  // 404 and 410: the upload is gone, so starting over is right.
  if (!response.ok && ![404, 410].includes(response.status)) throw failure('The server answered', response.status)
  return {
    getStatus: () => response.status,
    getHeader: (name«: string») => response.headers.get(name) ?? undefined,
    getBody: () => '',
    getUnderlyingObject: () => response,
  }
}`)

/**
 * Uppy would keep files of up to 10 MiB, and have the user pick larger ones again after a reload. Its types lack
 * these options.
 */
const retriever =
  written(`// Files of up to 1 GiB survive a reload. A larger one has to be picked again, and resumes where it stopped.
const remembered«: object» = { indexedDB: { maxFileSize: 1024 ** 3, maxTotalSize: 1024 ** 3 } }`)

const tusOptions = (uploadUrl: string) => `{
  endpoint: '${uploadUrl}',
  removeFingerprintOnSuccess: true,
  allowedMetaFields: ['name', 'type', 'relativePath'],
  ...keepGoing((reason) => uppy.info(reason, 'warning', 5000)),
}`

/**
 * An entire page, with Uppy from its prebuilt bundle. An import cannot specify a hash; the script before it is the
 * same module, so the browser fetches it once and verifies it there.
 */
export function plainUppySnippet({ baseUrl, uploadUrl }: EmbedTarget): string {
  const style = currentUppy(baseUrl, 'uppy.min.css')
  const module = currentUppy(baseUrl, 'uppy.min.mjs')
  return `<link rel="stylesheet" href="${style.url}"
  integrity="${style.integrity}" crossorigin="anonymous">
<div id="uploader"></div>
<script type="module" src="${module.url}"
  integrity="${module.integrity}" crossorigin="anonymous"></script>
<script type="module">
import { Dashboard, GoldenRetriever, Tus, Uppy } from '${module.url}'

${keepGoing.plain}

${retriever.plain}

const uppy = new Uppy({ id: 'sluice' })
uppy.use(Dashboard, { inline: true, target: '#uploader' })
uppy.use(GoldenRetriever, remembered)
uppy.use(Tus, ${tusOptions(uploadUrl)})
</script>
`
}

/** Imported by the snippets below. */
export const REACT_INSTALL =
  'npm install @uppy/core @uppy/dashboard @uppy/golden-retriever @uppy/react @uppy/tus'
export const TUS_JS_INSTALL = 'npm install tus-js-client'

export function reactUppySnippet({ uploadUrl }: EmbedTarget): string {
  return `'use client'

import Uppy, { type Body, type Meta } from '@uppy/core'
import GoldenRetriever from '@uppy/golden-retriever'
import Dashboard from '@uppy/react/dashboard'
import Tus, { type TusDetailedError, type TusOptions } from '@uppy/tus'
import { useState } from 'react'
import '@uppy/core/css/style.min.css'
import '@uppy/dashboard/css/style.min.css'

type TusRequest = Parameters<NonNullable<TusOptions<Meta, Body>['onBeforeRequest']>>[0]
type TusResponse = Awaited<ReturnType<TusRequest['send']>>

${keepGoing.typed}

${retriever.typed}

const tusOptions = (uppy: Uppy) => (${tusOptions(uploadUrl)})

export function Uploader() {
  const [uppy] = useState(() => {
    const uppy = new Uppy({ id: 'sluice' })
    // A server that renders this page cannot store files.
    if (typeof window !== 'undefined') uppy.use(GoldenRetriever, remembered)
    return uppy.use(Tus, tusOptions(uppy))
  })
  return <Dashboard uppy={uppy} />
}
`
}

export function tusJsSnippet({ uploadUrl }: EmbedTarget): string {
  return `import { Upload } from 'tus-js-client'

${keepGoing.plain}

export async function upload(file, onProgress, onWaiting = () => {}) {
  const done = Promise.withResolvers()
  const keep = keepGoing(onWaiting)
  const upload = new Upload(file, {
    ...keep,
    endpoint: '${uploadUrl}',
    removeFingerprintOnSuccess: true,
    metadata: { filename: file.name, filetype: file.type },
    onBeforeRequest: (request) => keep.onBeforeRequest(request, { data: file }),
    onProgress,
    onSuccess: done.resolve,
    onError: done.reject,
  })
  const [unfinished] = await upload.findPreviousUploads()
  if (unfinished) upload.resumeFromPreviousUpload(unfinished)
  upload.start()
  return done.promise
}
`
}

/** Only the core, for short examples; `keepGoing` is on the Embed page. */
export function shortUppySnippet({ uploadUrl }: EmbedTarget): string {
  return `const uppy = new Uppy()
  .use(Dashboard, { inline: true, target: '#uploader' })
  .use(GoldenRetriever)
  .use(Tus, {
    endpoint: '${uploadUrl}',
    ...keepGoing((reason) => uppy.info(reason)),
  })
`
}
