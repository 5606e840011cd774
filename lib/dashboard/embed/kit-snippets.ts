import type { EmbedTarget } from './embed-target.ts'

/** What somebody writes who has the kit. `examples/next` is the same with its addresses from the environment, and a test builds it. */
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
