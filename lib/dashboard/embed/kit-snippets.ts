import type { EmbedTarget } from './embed-target.ts'

/** What somebody writes who has the kit. The browser tests run these very texts. */
export function kitRouteSnippet({ baseUrl, pipeId }: EmbedTarget): string {
  return `// app/api/upload-token/route.ts, with SLUICE_SENDER_TOKEN in the environment
import { createTokenHandler } from '@sluice/node'

export const POST = createTokenHandler({
  baseUrl: '${baseUrl}',
  pipeId: '${pipeId}',
  authorize: () => ({ subject: 'user-1' }), // who is signed in; null where uploading is not allowed
})
`
}

export function kitExpressSnippet({ baseUrl, pipeId }: EmbedTarget): string {
  return `import { createTokenHandler } from '@sluice/node'
import { toNodeHandler } from '@sluice/node/node-http'

const handler = createTokenHandler({
  baseUrl: '${baseUrl}',
  pipeId: '${pipeId}',
  authorize: () => ({ subject: 'user-1' }),
})
app.post('/api/upload-token', toNodeHandler(handler))
`
}

export const KIT_PAGE_SNIPPET = `// app/page.tsx, or any other component
import { UploadButton } from '@sluice/react'
import '@sluice/react/styles.css'

export default function Page() {
  return <UploadButton />
}
`

/** For pages without React, as Express or Rails serve them. */
export const KIT_HTML_SNIPPET = `<label>Choose files <input type="file" multiple></label>
<ul></ul>
<script type="module">
// Have your server give out node_modules/@sluice/react/dist as /sluice.
import { createUploads } from '/sluice/uploads.js'

const uploads = createUploads()
uploads.watch(() => {
  const items = uploads.uploads().map(({ name, state, sentBytes, size }) => {
    const item = document.createElement('li')
    item.textContent = \`\${name}: \${state}, \${sentBytes} of \${size} bytes\`
    return item
  })
  document.querySelector('ul').replaceChildren(...items)
})
uploads.open()

document.querySelector('input').onchange = ({ target }) => {
  uploads.add(target.files)
  target.value = ''
}
</script>
`
