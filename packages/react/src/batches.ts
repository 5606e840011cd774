import { textToBase64 } from './base64.ts'
import { failsAgain, failureOf } from './failure.ts'
import type { FileUpload, Transport } from './file-upload.ts'
import type { KeptUploads } from './kept-uploads.ts'
import { persist } from './persist.ts'
import type { Tokens } from './tokens.ts'

type Listed = { upload: Pick<FileUpload, 'batch'> & Partial<FileUpload>; url: string | undefined }
type Options = { tokens: Tokens; kept: Pick<KeptUploads, 'hasUnbegun'>; transport: Transport }

/**
 * Seals each batch once each of its uploads, in this tab and in others, has been created, refused or removed from the
 * list. The batch then accepts no more files, and your backend gets an event when all of them have ended.
 */
export function createBatches({ tokens, kept, transport }: Options) {
  const { fetch = (...args) => globalThis.fetch(...args) } = transport
  const adding = new Set<string>()
  const sealing = new Map<string, Promise<void>>()

  async function sealIfWhole(batch: string): Promise<void> {
    if (await kept.hasUnbegun(batch)) return void sealing.delete(batch)
    // A permanent refusal is ignored: retrying would not help, and the files arrive anyway.
    await persist(
      () => seal(batch),
      new AbortController().signal,
      () => {},
    ).catch(() => undefined)
  }

  async function seal(batch: string, renewed = false): Promise<void> {
    const { token, uploadUrl } = await tokens.take()
    const headers = { Authorization: `Bearer ${token}`, 'Upload-Metadata': `batch ${textToBase64(batch)}` }
    const { ok, status } = await fetch(uploadUrl.replace(/files\/$/, 'batches/seal'), {
      method: 'POST',
      headers,
    })
    if (status === 401 && !renewed) {
      tokens.refuse(token)
      return seal(batch, true)
    }
    if (!ok) throw failureOf(status)
  }

  return {
    /** Keeps the batch from being sealed until the returned function is called, while files are being added. */
    begin(batch: string | undefined): () => void {
      if (batch !== undefined) adding.add(batch)
      return () => void (batch !== undefined && adding.delete(batch))
    },
    /** Seals the batch if possible. Call it whenever one of its uploads was created, refused or removed from the list. */
    look(batch: string | undefined, all: Iterable<Listed>): void {
      if (batch === undefined || adding.has(batch) || sealing.has(batch)) return
      let [anyCreated, anyRefused] = [false, false]
      for (const { upload, url } of all) {
        if (upload.batch !== batch) continue
        if (url) anyCreated = true
        else if (failsAgain(upload)) anyRefused = true
        else return
      }
      // If all were refused, the batch does not exist.
      if (anyRefused && !anyCreated) return
      sealing.set(batch, sealIfWhole(batch))
    },
    /** Waits until the batch is sealed. Ended uploads are kept until then, so that a reopened page can seal it. */
    async sealed(batch: string | undefined): Promise<void> {
      if (batch !== undefined) await sealing.get(batch)
    },
  }
}
