import { type ClientRequest, request } from 'node:http'
import { Upload } from 'tus-js-client'

/** An upload whose body stops at a given point, so that it is in progress during a backup or a crash. */
export type HeldUpload = {
  address: string
  /** Sends the rest; resolves to the response's status. */
  finish(): Promise<number>
  /** Destroys the request if it is still open after its server has stopped. */
  abandon(): void
}

const COMMON = { 'Tus-Resumable': '1.0.0' }

export async function holdUpload(
  { uploadUrl, token }: { uploadUrl: string; token: string },
  { name, bytes, sentBytes }: { name: string; bytes: Buffer; sentBytes: number },
): Promise<HeldUpload> {
  const headers = { ...COMMON, Authorization: `Bearer ${token}` }
  const created = await fetch(uploadUrl, {
    method: 'POST',
    headers: {
      ...headers,
      'Upload-Length': String(bytes.length),
      'Upload-Metadata': `filename ${Buffer.from(name).toString('base64')}`,
    },
  })
  if (created.status !== 201) throw new Error(`${name} was not created: ${created.status}`)
  const address = created.headers.get('location')!
  const patch = request(address, {
    method: 'PATCH',
    agent: false,
    headers: {
      ...headers,
      'Content-Type': 'application/offset+octet-stream',
      'Content-Length': bytes.length,
      'Upload-Offset': 0,
    },
  })
  const status = statusOf(patch)
  status.catch(() => {})
  patch.write(bytes.subarray(0, sentBytes))
  return {
    address,
    finish() {
      patch.end(bytes.subarray(sentBytes))
      return status
    },
    abandon: () => void patch.destroy(),
  }
}

function statusOf(sent: ClientRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    sent.once('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode!)
    })
    sent.once('error', reject)
  })
}

/**
 * Resumes the upload at its stored address. Returns true if it finished there, and false if it started over elsewhere.
 */
export function resumeUpload(
  { uploadUrl, token }: { uploadUrl: string; token: string },
  { address, name, bytes }: { address: string; name: string; bytes: Buffer },
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(bytes, {
      endpoint: uploadUrl,
      uploadUrl: address,
      headers: { Authorization: `Bearer ${token}` },
      metadata: { filename: name },
      retryDelays: [0, 1000, 3000, 5000],
      onSuccess: () => resolve(upload.url === address),
      onError: reject,
    })
    upload.start()
  })
}
