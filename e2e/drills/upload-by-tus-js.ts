import { Upload } from 'tus-js-client'
import type { Stage } from './stage.ts'

/**
 * Uploads as a page would: each upload continues automatically, or ends with an error. Resolves once every upload has
 * all its bytes.
 */
export async function uploadByTusJs(stage: Stage, sources: ReadonlyMap<string, Buffer>): Promise<void> {
  const token = await stage.site.token()
  await Promise.all([...sources].map(([name, bytes]) => upload(stage.uploadUrl, token, name, bytes)))
}

function upload(endpoint: string, token: string, filename: string, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    new Upload(bytes, {
      endpoint,
      headers: { Authorization: `Bearer ${token}` },
      metadata: { filename },
      retryDelays: [0, 1000, 3000, 5000, 5000, 5000, 5000, 5000],
      onSuccess: () => resolve(),
      onError: reject,
    }).start()
  })
}
