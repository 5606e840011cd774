import { createUploads, UploadFailure } from '#packages/react/src/index.ts'
import { knownVisitor, type OpenedLink, openLink, visitorOf } from './open-link.ts'

/**
 * The uploads of a visitor. A browser that comes back to a link that is closed, or whose password is still to be given, goes on with
 * what it began; what it had not begun is paused until then.
 */
export function createLinkUploads({ code, place }: { code: string; place: string }) {
  let password: string | undefined
  let continuesOnly = false
  /** That came with the last answer: each password that is sent counts, and so does each token. */
  let unused: OpenedLink['upload'] = null

  const open = async (): Promise<OpenedLink> => {
    const opened = await openLink({ code, visitor: visitorOf(place), password })
    continuesOnly = opened.upload?.mayCreate === false
    return opened
  }
  const uploads = createUploads({
    place,
    async getToken() {
      const upload = unused ?? (await open()).upload
      unused = null
      if (upload) return upload
      throw new UploadFailure('This upload link takes no more files.', 403)
    },
  })

  /** Watched, so that an upload that waits for its turn does not get it. */
  function pauseUnbegun(): void {
    if (!continuesOnly) return
    for (const { id, fileId, state } of uploads.uploads())
      if (fileId === undefined && state === 'queued') uploads.pause(id)
  }

  return {
    uploads,
    pauseUnbegun,
    /** Undefined if this browser has nothing to continue. */
    async comeBack(): Promise<OpenedLink | undefined> {
      if (knownVisitor(place) === undefined) return undefined
      const opened = await open()
      unused = opened.upload
      return opened.upload ? opened : undefined
    },
    /** Throws an UploadFailure if it is another password. */
    async enter(given: string): Promise<OpenedLink> {
      const opened = await openLink({ code, visitor: visitorOf(place), password: given })
      password = given
      continuesOnly = opened.upload?.mayCreate === false
      unused = opened.upload
      uploads.renewToken()
      for (const { id, fileId } of uploads.uploads()) if (fileId === undefined) uploads.resume(id)
      return opened
    },
  }
}
