import type { EmbedTarget } from './embed-target.ts'

/**
 * The uploader for a page. Each takes its token from the page's own backend, renews it before it expires and
 * after a 401, and goes on after a reload. The browser tests run these very texts.
 */
const TOKEN = `// Your backend answers {token, expiresAt}. It is asked again a minute before the token expires.
let current
async function uploadToken() {
  if (!current || Date.parse(current.expiresAt) - Date.now() < 60_000) {
    const response = await fetch('/api/upload-token', { method: 'POST' })
    if (!response.ok) throw new Error(\`No upload token: \${response.status}\`)
    current = await response.json()
  }
  return current.token
}`

/** Uppy would keep files of up to 10 MiB, and let every larger one be picked again after a reload. */
const RETRIEVER = `// After a reload a file of up to 1 GiB goes on by itself. A larger one is picked again, and goes on where it was.
const remembered = { indexedDB: { maxFileSize: 1024 ** 3, maxTotalSize: 1024 ** 3 } }`

const tusOptions = (uploadUrl: string) => `{
  endpoint: '${uploadUrl}',
  retryDelays: [0, 1000, 3000, 5000],
  removeFingerprintOnSuccess: true,
  allowedMetaFields: ['name', 'type'],
  async onBeforeRequest(request) {
    // A HEAD that is refused makes the client begin anew, so it goes with a token of just now.
    if (request.getMethod() === 'HEAD') current = undefined
    request.setHeader('Authorization', \`Bearer \${await uploadToken()}\`)
  },
  onShouldRetry(error, attempt, options, next) {
    // The token ran out or was revoked on the way: take a new one and go on.
    if (error.originalResponse?.getStatus() === 401) {
      current = undefined
      return true
    }
    return next(error)
  },
}`

/** A whole page, with Uppy from its ready-made bundle. */
export function plainUppySnippet({ uploadUrl }: EmbedTarget): string {
  return `<link rel="stylesheet" href="https://releases.transloadit.com/uppy/v6.0.1/uppy.min.css">
<div id="uploader"></div>
<script type="module">
import { Dashboard, GoldenRetriever, Tus, Uppy } from 'https://releases.transloadit.com/uppy/v6.0.1/uppy.min.mjs'

${TOKEN}

${RETRIEVER}

const uppy = new Uppy({ id: 'sluice' })
uppy.use(Dashboard, { inline: true, target: '#uploader' })
uppy.use(GoldenRetriever, remembered)
uppy.use(Tus, ${tusOptions(uploadUrl)})
</script>
`
}

export function reactUppySnippet({ uploadUrl }: EmbedTarget): string {
  return `'use client'

import Uppy from '@uppy/core'
import GoldenRetriever from '@uppy/golden-retriever'
import Dashboard from '@uppy/react/dashboard'
import Tus from '@uppy/tus'
import { useState } from 'react'
import '@uppy/core/css/style.min.css'
import '@uppy/dashboard/css/style.min.css'

${TOKEN}

${RETRIEVER}

const tusOptions = ${tusOptions(uploadUrl)}

export function Uploader() {
  const [uppy] = useState(() =>
    new Uppy({ id: 'sluice' }).use(GoldenRetriever, remembered).use(Tus, tusOptions),
  )
  return <Dashboard uppy={uppy} />
}
`
}

export function tusJsSnippet({ uploadUrl }: EmbedTarget): string {
  return `import { Upload } from 'tus-js-client'

${TOKEN}

export async function upload(file, onProgress) {
  const done = Promise.withResolvers()
  const upload = new Upload(file, {
    endpoint: '${uploadUrl}',
    retryDelays: [0, 1000, 3000, 5000],
    removeFingerprintOnSuccess: true,
    metadata: { filename: file.name, filetype: file.type },
    async onBeforeRequest(request) {
      // A HEAD that is refused makes the client begin anew, so it goes with a token of just now.
      if (request.getMethod() === 'HEAD') current = undefined
      request.setHeader('Authorization', \`Bearer \${await uploadToken()}\`)
    },
    onShouldRetry(error) {
      const status = error.originalResponse?.getStatus() ?? 0
      if (status === 401) current = undefined
      return status < 400 || status >= 500 || [401, 409, 423].includes(status)
    },
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

/** The heart of it, where there is room for no more. */
export function shortUppySnippet({ uploadUrl }: EmbedTarget): string {
  return `new Uppy()
  .use(Dashboard, { inline: true, target: '#uploader' })
  .use(GoldenRetriever)
  .use(Tus, {
    endpoint: '${uploadUrl}',
    retryDelays: [0, 1000, 3000, 5000],
    async onBeforeRequest(request) {
      const token = await uploadToken()
      request.setHeader('Authorization', \`Bearer \${token}\`)
    },
  })
`
}
