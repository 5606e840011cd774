import { currentUppy, kitModule } from './kit.ts'
import type { EmbedTarget } from './snippets.ts'

/** Uploader snippets for customers to copy into their pages. The browser tests run these exact snippets. */

/**
 * A page that uses Uppy's prebuilt bundle. An import cannot specify a hash, so a script tag that precedes the import
 * loads the same module: the browser fetches the module only once, and verifies its hash when the script tag loads it.
 */
export function plainUppySnippet({ baseUrl }: EmbedTarget): string {
  const style = currentUppy(baseUrl, 'uppy.min.css')
  const module = currentUppy(baseUrl, 'uppy.min.mjs')
  return `<link rel="stylesheet" href="${style.url}" integrity="${style.integrity}" crossorigin="anonymous">
<script type="module" src="${module.url}" integrity="${module.integrity}" crossorigin="anonymous"></script>
<div id="uploader"></div>
<script type="module">
import { Dashboard, GoldenRetriever, Uppy } from '${module.url}'
import Sluice, { keepFiles } from '${kitModule(baseUrl, 'uppy.js')}'

const uppy = new Uppy({ id: 'sluice' }).use(GoldenRetriever, keepFiles).use(Sluice)
uppy.use(Dashboard, { inline: true, target: '#uploader' })
</script>
`
}

type Framework = 'react' | 'vue' | 'svelte'

/** The packages on npm that a framework's snippet imports, in addition to @sluice/uppy. */
export const uppyPackages = (framework: Framework): string =>
  `@uppy/core @uppy/dashboard @uppy/golden-retriever @uppy/${framework}`

/** For a server that renders the page, there is nowhere to keep files. */
const uppyFor = (framework: Framework) => `import Uppy from '@uppy/core'
import GoldenRetriever from '@uppy/golden-retriever'
import Dashboard from '@uppy/${framework}/dashboard'
import Sluice, { keepFiles } from '@sluice/uppy'
import '@uppy/core/css/style.min.css'
import '@uppy/dashboard/css/style.min.css'

const uppy = new Uppy({ id: 'sluice' }).use(Sluice)
if (typeof window !== 'undefined') uppy.use(GoldenRetriever, keepFiles)`

/** The snippets differ only in the framework's component. */
export const UPPY_SNIPPETS: Readonly<Record<Framework, string>> = {
  react: `'use client'
${uppyFor('react')}

export const Uploader = () => <Dashboard uppy={uppy} />
`,
  vue: `<script setup>
${uppyFor('vue')}
</script>
<template><Dashboard :uppy="uppy" /></template>
`,
  svelte: `<script>
${uppyFor('svelte')}
</script>
<Dashboard {uppy} />
`,
}

export const TUS_JS_INSTALL = 'npm install tus-js-client'

export function tusJsSnippet({ uploadUrl }: EmbedTarget): string {
  return `import { Upload } from 'tus-js-client'

// Your backend returns {token, expiresAt}. A new token is requested a minute before the old one expires.
let current
async function uploadToken() {
  if (!current || Date.parse(current.expiresAt) - Date.now() < 60_000) {
    const response = await fetch('/api/upload-token', { method: 'POST' })
    if (!response.ok) throw new Error(\`No upload token: \${response.status}\`)
    current = await response.json()
  }
  return current.token
}

export async function upload(file, onProgress) {
  const done = Promise.withResolvers()
  const upload = new Upload(file, {
    endpoint: '${uploadUrl}',
    removeFingerprintOnSuccess: true,
    metadata: { filename: file.name, filetype: file.type },
    retryDelays: [0, 1000, 3000, 5000, 10_000, 30_000],
    async onBeforeRequest(request) {
      request.setHeader('Authorization', \`Bearer \${await uploadToken()}\`)
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

/** Only the essential part, for short examples. */
export const SHORT_UPPY_SNIPPET = `const uppy = new Uppy()
  .use(Dashboard, { inline: true, target: '#uploader' })
  .use(GoldenRetriever, keepFiles)
  .use(Sluice, { tokenUrl: '/api/upload-token' })
`
