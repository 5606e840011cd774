import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { FileUpload, UploadOptions } from './file-upload.ts'
import { createUploads, type Uploads } from './uploads.ts'

export type UseUpload = Pick<Uploads, 'add' | 'addUnreadable' | 'pause' | 'resume' | 'retry' | 'cancel'> & {
  uploads: readonly FileUpload[]
  /** Whether any upload is neither finished nor paused. */
  busy: boolean
}

const NONE: readonly FileUpload[] = []
const RESTING: string[] = ['done', 'failed', 'paused', 'missing']

/** Uploads without a user interface. Uses the options of the first call; only callbacks and `getToken` may change. */
export function useUpload(options: UploadOptions = {}): UseUpload {
  const latest = useRef(options)
  useEffect(() => {
    latest.current = options
  })
  const [store] = useState(() =>
    createUploads({
      ...options,
      ...(options.getToken && { getToken: () => (latest.current.getToken ?? options.getToken!)() }),
      ...(options.batch && { batch: (files) => (latest.current.batch ?? options.batch!)(files) }),
      onDone: (upload) => latest.current.onDone?.(upload),
      onFailed: (upload) => latest.current.onFailed?.(upload),
    }),
  )
  useEffect(() => store.open(), [store])
  return useUploadsOf(store)
}

/** For uploads created outside of React. */
export function useUploadsOf(store: Uploads): UseUpload {
  const uploads = useSyncExternalStore(store.watch, store.uploads, () => NONE)
  const { add, addUnreadable, pause, resume, retry, cancel } = store
  const busy = uploads.some(({ state }) => !RESTING.includes(state))
  return { uploads, busy, add, addUnreadable, pause, resume, retry, cancel }
}
