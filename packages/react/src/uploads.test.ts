import { expect, it, vi } from 'vitest'
import { createUploads } from './uploads.ts'

// Node 22 has no Web Locks.
it.skipIf(!navigator.locks)(
  'releases an upload that was added before opening, so that the next component can lock it',
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

it('adds many files in slices, and lets other tasks run in between', async () => {
  const uploads = createUploads({ getToken: () => new Promise(() => {}), keepBytes: 0 })
  const turns = new Set<number>()
  const lengths: number[] = [0]
  let turn = 0
  uploads.watch(() => {
    turns.add(turn)
    lengths.push(uploads.uploads().length)
  })
  const files = Array.from({ length: 1000 }, (_, n) => new File(['x'], `${n}.txt`))
  uploads.add(files)
  for (; uploads.uploads().length < files.length; turn++)
    await new Promise((resolve) => setImmediate(resolve))
  const added = lengths.slice(1).map((length, n) => length - lengths[n]!)
  expect(Math.max(...added)).toBeLessThanOrEqual(50)
  // On a busy machine, two slices' timers may fire in one turn of the event loop.
  expect(turns.size).toBeGreaterThanOrEqual(10)
  expect(uploads.uploads().map(({ name }) => name)).toEqual(files.map(({ name }) => name))
})

it('names and seals no batch if there are no files to add, such as when text is dropped', async () => {
  const getToken = vi.fn(() => new Promise<never>(() => {}))
  const batch = vi.fn(() => 'a batch')
  createUploads({ getToken, batch }).add([])
  await new Promise((resolve) => setImmediate(resolve))
  expect([batch, getToken].map(({ mock }) => mock.calls.length)).toEqual([0, 0])
})

it.each([
  ['three files', {}, 2 ** 21, 3],
  ['a small file over each connection', {}, 1, 5],
  ['as many small files as the option says', { parallel: 2 }, 1, 2],
])('sends %s at a time', (_, options, bytes, most) => {
  const uploads = createUploads({ getToken: () => new Promise(() => {}), keepBytes: 0, ...options })
  const close = uploads.open()
  uploads.add(Array.from({ length: 9 }, (_, n) => new File([new Uint8Array(bytes)], `${n}.bin`)))
  expect(uploads.uploads().filter(({ state }) => state === 'uploading')).toHaveLength(most)
  close()
})

it('reports changes within a frame together, and lists each of them at once', async () => {
  const uploads = createUploads({ getToken: () => new Promise(() => {}), keepBytes: 0 })
  uploads.add(Array.from({ length: 9 }, (_, n) => new File(['x'], `${n}.bin`)))
  const watcher = vi.fn()
  uploads.watch(watcher)
  for (const { id } of uploads.uploads()) uploads.pause(id)
  expect(new Set(uploads.uploads().map(({ state }) => state))).toEqual(new Set(['paused']))
  await expect.poll(() => watcher.mock.calls.length).toBe(1)
})
