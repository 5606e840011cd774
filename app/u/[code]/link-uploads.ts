import { createUploads, UploadFailure } from '#packages/react/src/index.ts'
import { knownVisitor, type OpenedLink, openLink, visitorOf } from './open-link.ts'

type Options = {
  code: string
  place: string
  /** Called when the password that the visitor entered no longer opens the link. */
  onPasswordChanged(): void
}

/**
 * A visitor's uploads. A browser that returns to a closed link, or to a link whose password has not been entered again,
 * continues the uploads that it started earlier, and keeps all others paused.
 */
export function createLinkUploads({ code, place, onPasswordChanged }: Options) {
  let password: string | undefined
  let continuesOnly = false
  /** The token from the last response, kept because each password attempt and each token counts against a limit. */
  let unused: OpenedLink['upload'] = null

  const open = async (): Promise<OpenedLink> => {
    const visitor = visitorOf(place)
    const opened = await openLink({ code, visitor, password }).catch(async (error: unknown) => {
      if (password === undefined || !isWrongPassword(error)) throw error
      password = undefined
      onPasswordChanged()
      const without = await openLink({ code, visitor, password })
      if (without.upload) return without
      throw error
    })
    continuesOnly = opened.upload?.mayCreate === false
    return opened
  }
  const uploads = createUploads({
    place,
    // The files chosen together, whose arrival is reported in one email.
    batch: () => new Date().toISOString(),
    async getToken() {
      const upload = unused ?? (await open()).upload
      unused = null
      if (upload) return upload
      throw new UploadFailure('This upload link accepts no more files.', 403, 'token_exhausted')
    },
  })

  /** Called on every change. If the link accepts no new files, pauses queued uploads that have not been created. */
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
    /** Throws an UploadFailure if the password is wrong. */
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

const isWrongPassword = (error: unknown) => error instanceof UploadFailure && error.status === 403
