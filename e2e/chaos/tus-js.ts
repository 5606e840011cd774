import { setTimeout as sleep } from 'node:timers/promises'
import { Upload } from 'tus-js-client'
import type { Random } from '../../test/support/random.ts'
import { newToken, type Outcome, type Site } from './client.ts'
import type { Source } from './source.ts'

const MIB = 1024 * 1024

/** Uses Uppy's client, paused and resumed at random, and restarted by its user whenever it gives up. */
export async function uploadByTusJs(
  site: Site,
  source: Source,
  pipeId: string,
  random: Random,
): Promise<Outcome> {
  let token = await newToken(site, pipeId)
  const done = Promise.withResolvers<void>()
  let address: string | null = null
  let over = false
  let lastHead: number | undefined
  let beginningAgain: NodeJS.Timeout | undefined
  /** Replaces a planned start, since two starts without an upload address would create the upload twice. */
  const begin = () => {
    clearTimeout(beginningAgain)
    if (!over) upload.start()
  }
  const upload = new Upload(source.bytes, {
    endpoint: `${site.url}/pipes/${pipeId}/files/`,
    onBeforeRequest: (request) => request.setHeader('Authorization', `Bearer ${token}`),
    metadata: { filename: source.name },
    retryDelays: [0, 1000, 3000, 5000],
    chunkSize: random.pick([Number.POSITIVE_INFINITY, MIB, 5 * MIB, 8 * MIB]),
    uploadDataDuringCreation: random.chance(0.3),
    onUploadUrlAvailable: () => {
      if (address !== null && upload.url !== address && !site.mayLoseCommits)
        site.log.violation(
          `${source.name}: tus-js-client left ${address} for ${upload.url}; its last HEAD returned ${lastHead}`,
        )
      address = upload.url
    },
    onAfterResponse(request, response) {
      if (request.getMethod() === 'HEAD') lastHead = response.getStatus()
    },
    onSuccess: () => done.resolve(),
    onError: (error) => {
      site.log.count('restarts of tus-js-client after it gave up')
      if (site.impatient()) return done.reject(error)
      const beginAgain = async () => {
        if (site.mayLoseCommits) token = await newToken(site, pipeId)
        begin()
      }
      beginningAgain = setTimeout(beginAgain, 300)
    },
  })
  upload.start()
  const pausing = pauseNowAndThen()
  await done.promise.finally(() => {
    over = true
  })
  await pausing
  return { source, address: upload.url!, end: 'transferred' }

  async function pauseNowAndThen(): Promise<void> {
    for (let times = random.whole(0, 3); times > 0; times--) {
      await sleep(random.whole(50, 1500))
      if (over) return
      clearTimeout(beginningAgain)
      await upload.abort()
      await sleep(random.whole(0, 800))
      if (over) return
      site.log.count('tus-js-client pauses')
      begin()
    }
  }
}
