import type { EmbedTarget } from './embed-target.ts'

/** How a backend trades its Sender token for a temporary one. */
export function curlTokenSnippet({ baseUrl, pipeId }: EmbedTarget): string {
  return `curl ${baseUrl}/api/v1/tokens \\
  -H "Authorization: Bearer $SLUICE_SENDER_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"pipeId":"${pipeId}"}'
`
}

export function nodeTokenSnippet({ baseUrl, pipeId }: EmbedTarget): string {
  return `// POST /api/upload-token on your backend. Check who is asking before you answer.
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
