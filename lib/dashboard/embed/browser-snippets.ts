import { currentUppy } from './kit.ts'
import type { EmbedTarget } from './snippets.ts'

/**
 * Uploader snippets for customers to copy into their pages. Each one gets its token from the page's own backend, and
 * renews it before it expires and after a 401. It waits out temporary failures for as long as the upload exists, and
 * continues after a reload. The code does the same as packages/react: one test suite covers both, and the browser tests
 * run these exact snippets.
 */
/**
 * In `text`, types are enclosed in « and »: the TypeScript version keeps them, and the JavaScript version omits them.
 */
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
// offset. Instead, this code waits for as long as the network, the server or your backend is down.
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
      if (attempt > 0) tell(status ? \`The server responded: \${status}\` : 'Waiting for the network')
      return passes({ status })
    },
  }
}

const failure = (text«: string», status«: number») => Object.assign(new Error(\`\${text}: \${status}\`), { status })

// No status means that there was no response. A file that has changed since it was selected cannot be sent.
const passes = ({ name, status }«: { name?: string; status?: number | undefined }») =>
  name !== 'NotReadableError' && (!status || status >= 500 || [408, 409, 423, 425, 429].includes(status))

// Waits until the browser reports that the network is back, but not forever: browsers do not always notice.
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
    if (signal.aborted) return new Promise(() => {}) // Paused: continuing sends a new request.
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
  // On 404 or 410, the upload no longer exists: the client starts over.
  if (!response.ok && ![404, 410].includes(response.status)) throw failure('The server responded', response.status)
  return {
    getStatus: () => response.status,
    getHeader: (name«: string») => response.headers.get(name) ?? undefined,
    getBody: () => '',
    getUnderlyingObject: () => response,
  }
}`)

/**
 * By default, Uppy only stores files of up to 10 MiB, and users have to select larger ones again after a reload. Uppy's
 * types do not include the options that change this.
 */
const retriever =
  written(`// Files of up to 1 GiB survive a reload. Larger files have to be selected again, and resume where they stopped.
const remembered«: object» = { indexedDB: { maxFileSize: 1024 ** 3, maxTotalSize: 1024 ** 3 } }`)

const tusOptions = (uploadUrl: string) => `{
  endpoint: '${uploadUrl}',
  removeFingerprintOnSuccess: true,
  allowedMetaFields: ['name', 'type', 'relativePath'],
  ...keepGoing((reason) => uppy.info(reason, 'warning', 5000)),
}`

/**
 * A complete page that uses Uppy's prebuilt bundle. An import cannot specify a hash, so a script tag that precedes the
 * import loads the same module: the browser fetches the module only once, and verifies its hash when the script tag
 * loads it.
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

/** Installs the packages that the snippets below import. */
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
    // Files can only be stored in a browser, not while a server renders this page.
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

/** Only the essential part, for short examples. The full snippets, with `keepGoing`, are on the Embed page. */
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
