import { expect, it } from 'vitest'
import { createUploads } from './uploads.ts'

// Node 22 has no locks.
it.skipIf(!navigator.locks)(
  'lets go of an upload that was added before it was opened, so that the next component has it',
  async () => {
    const uploads = createUploads({ getToken: () => new Promise(() => {}) })
    uploads.add([new File(['film'], 'film.bin')])
    const close = uploads.open()
    const { id } = uploads.uploads()[0]!
    const name = `sluice-upload:${id}`
    const names = async () => (await navigator.locks.query()).held!.map((lock) => lock.name)
    await expect.poll(names).toContain(name)
    close()
    await navigator.locks.request(name, () => {})
    expect(await names()).not.toContain(name)
  },
)
