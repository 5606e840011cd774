/**
 * What survives a reload: each unfinished upload, and its file if there is room. If the browser keeps nothing, such
 * as in a private window, uploads still work.
 */
export type KeptUpload = {
  id: string
  place: string
  name: string
  path?: string
  batch?: string
  type: string
  size: number
  lastModified: number
  /** The upload's address, once it was created. */
  url?: string
  paused?: boolean
  addedMs: number
}
export type KeptUploads = ReturnType<typeof openKeptUploads>

const DATABASE = 'sluice-uploads'
/** How long an upload may be idle on the server. */
const LIFE_MS = 7 * 24 * 3_600_000

export function openKeptUploads() {
  let opening: Promise<IDBDatabase> | undefined
  /** Uploads whose files are not stored yet. If one is removed before that, its file is not stored. */
  const unstored = new Set<string>()
  const use = async (
    mode: IDBTransactionMode,
    stores: string[],
    act: (transaction: IDBTransaction) => void,
  ) => {
    opening ??= openDatabase()
    const transaction = (await opening).transaction(stores, mode)
    act(transaction)
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve
      transaction.onabort = () => reject(transaction.error)
    })
  }
  const change = use.bind(undefined, 'readwrite')
  const ignored = () => undefined

  return {
    /** Files are stored one after another, because the browser copies each of them. */
    async add(added: readonly { upload: KeptUpload; file: File | undefined }[]): Promise<void> {
      for (const { upload, file } of added) if (file) unstored.add(upload.id)
      await change(['uploads'], (all) => {
        for (const { upload } of added) all.objectStore('uploads').put(upload)
      }).catch(ignored)
      for (const { upload, file } of added)
        if (unstored.delete(upload.id))
          await change(['files'], (all) => all.objectStore('files').put(file, upload.id)).catch(ignored)
    },
    async note(id: string, noted: Partial<KeptUpload>): Promise<void> {
      await change(['uploads'], (all) => {
        const uploads = all.objectStore('uploads')
        const asking = uploads.get(id)
        asking.onsuccess = () => {
          if (asking.result) uploads.put(Object.assign(asking.result, noted))
        }
      }).catch(ignored)
    },
    async remove(id: string): Promise<void> {
      unstored.delete(id)
      await change(['uploads', 'files'], (all) => forget(all, id)).catch(ignored)
    },
    /** The ids of a place's uploads, oldest first. Uploads that are too old to continue are dropped. */
    async ids(place: string): Promise<string[]> {
      let found: KeptUpload[] = []
      await change(['uploads', 'files'], (all) => {
        const asking: IDBRequest<KeptUpload[]> = all.objectStore('uploads').getAll()
        asking.onsuccess = () => {
          const isOld = ({ addedMs }: KeptUpload) => Date.now() - addedMs > LIFE_MS
          for (const { id } of asking.result.filter(isOld)) forget(all, id)
          found = asking.result.filter((upload) => upload.place === place && !isOld(upload))
        }
      }).catch(ignored)
      return found.sort((a, b) => a.addedMs - b.addedMs).map(({ id }) => id)
    },
    /** Whether any upload of the batch, in any tab, has not been created yet. */
    async hasUnbegun(batch: string): Promise<boolean> {
      let found = false
      await use('readonly', ['uploads'], (all) => {
        const asking: IDBRequest<KeptUpload[]> = all.objectStore('uploads').getAll()
        asking.onsuccess = () => {
          found = asking.result.some((upload) => upload.batch === batch && !upload.url)
        }
      }).catch(ignored)
      return found
    },
    async find(id: string): Promise<{ upload: KeptUpload; file: File | undefined } | undefined> {
      let found: { upload: KeptUpload; file: File | undefined } | undefined
      await use('readonly', ['uploads', 'files'], (all) => {
        const upload = all.objectStore('uploads').get(id)
        const file = all.objectStore('files').get(id)
        file.onsuccess = () => {
          if (upload.result) found = { upload: upload.result, file: file.result }
        }
      }).catch(ignored)
      return found
    },
  }
}

function forget(transaction: IDBTransaction, id: string): void {
  for (const name of ['uploads', 'files']) transaction.objectStore(name).delete(id)
}

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1)
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore('uploads', { keyPath: 'id' })
      opening.result.createObjectStore('files')
    }
    opening.onsuccess = () => resolve(opening.result)
    opening.onerror = () => reject(opening.error)
  })
}
