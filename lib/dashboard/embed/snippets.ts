import { kitModule } from './kit.ts'

/** The values that snippets contain. They never include a secret: secrets come from the reader's own environment. */
export type EmbedTarget = {
  baseUrl: string
  /** The Pipe's TUS endpoint. */
  uploadUrl: string
  pipeId: string
}

/** How a backend exchanges its Sender token for a temporary one. */
export function curlTokenSnippet({ baseUrl, pipeId }: EmbedTarget): string {
  return `curl ${baseUrl}/api/v1/tokens \\
  -H "Authorization: Bearer $SLUICE_SENDER_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"pipeId":"${pipeId}"}'
`
}

export function nodeTokenSnippet({ baseUrl, pipeId }: EmbedTarget): string {
  return `// POST /api/upload-token on your backend. Check who is asking before you respond.
export async function POST() {
  const response = await fetch('${baseUrl}/api/v1/tokens', {
    method: 'POST',
    headers: {
      Authorization: \`Bearer \${process.env.SLUICE_SENDER_TOKEN}\`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ pipeId: '${pipeId}' }),
  })
  return Response.json(await response.json(), { status: response.status })
}
`
}

/** Snippets for users of the kit. The browser tests run these exact snippets. */
export function kitRouteSnippet({ baseUrl, pipeId }: EmbedTarget): string {
  return `// app/api/upload-token/route.ts, with SLUICE_SENDER_TOKEN in the environment
import { createTokenHandler } from '@sluice/node'

export const POST = createTokenHandler({
  baseUrl: '${baseUrl}',
  pipeId: '${pipeId}',
  authorize: () => ({ subject: 'user-1' }), // the signed-in user; null if they may not upload
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

/** For pages of any kind, such as those by Rails or Vue. */
export const kitHtmlSnippet = ({
  baseUrl,
}: Pick<
  EmbedTarget,
  'baseUrl'
>): string => `<script type="module" src="${kitModule(baseUrl, 'uploader.js')}"></script>
<sluice-uploader></sluice-uploader>
`

/** Uploads without TUS: from a terminal, an iPhone, or a page that only needs to send a file. */
export function curlUploadSnippet({ baseUrl, uploadUrl, pipeId }: EmbedTarget): string {
  return `TOKEN=$(curl -s ${baseUrl}/api/v1/tokens \\
  -H "Authorization: Bearer $SLUICE_SENDER_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"pipeId":"${pipeId}"}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')

curl -T film.bin -H "Authorization: Bearer $TOKEN" \\
  ${uploadUrl}
`
}

export function swiftUploadSnippet({ uploadUrl }: EmbedTarget): string {
  return `import Foundation

// On iOS 17 and later, URLSession itself resumes interrupted uploads, even in the background.
func upload(_ file: URL, token: String) async throws {
  let address = URL(string: "${uploadUrl}")!.appending(path: file.lastPathComponent)
  var request = URLRequest(url: address)
  request.httpMethod = "PUT"
  request.setValue("Bearer \\(token)", forHTTPHeaderField: "Authorization")
  let (_, response) = try await URLSession.shared.upload(for: request, fromFile: file)
  guard let status = (response as? HTTPURLResponse)?.statusCode, status < 300 else {
    throw URLError(.badServerResponse)
  }
}
`
}

export function fetchUploadSnippet({ uploadUrl }: EmbedTarget): string {
  return `// Your backend returns {token}. An interrupted upload has to start over, so use Uppy or tus-js-client for large files.
export async function upload(file) {
  const { token } = await (await fetch('/api/upload-token', { method: 'POST' })).json()
  const answer = await fetch('${uploadUrl}' + encodeURIComponent(file.name), {
    method: 'PUT',
    headers: { Authorization: \`Bearer \${token}\` },
    body: file,
  })
  if (!answer.ok) throw new Error((await answer.json()).detail)
  return answer.json()
}
`
}
