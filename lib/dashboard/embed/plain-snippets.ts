import type { EmbedTarget } from './embed-target.ts'

/** A file without TUS: from a terminal, an iPhone and a page that needs no more than a file sent. */
export function curlUploadSnippet({ baseUrl, uploadUrl, pipeId }: EmbedTarget): string {
  return `TOKEN=$(curl -s ${baseUrl}/api/v1/tokens \\
  -H "Authorization: Bearer $SLUICE_SENDER_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"pipeId":"${pipeId}"}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')

curl -T film.bin -H "Authorization: Bearer $TOKEN" ${uploadUrl}
`
}

export function swiftUploadSnippet({ uploadUrl }: EmbedTarget): string {
  return `import Foundation

// From iOS 17 on, URLSession itself goes on with what was cut, in the background, too.
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
  return `// Your backend answers {token}. What is cut has to be sent again: for large files take Uppy or tus-js-client.
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
