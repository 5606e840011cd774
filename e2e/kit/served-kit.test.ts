import { createHash } from 'node:crypto'
import { expect, inject, it } from 'vitest'

/** Tests the packed files as the server serves them. */
type Listed = { name: string; url: string; integrity: string; bytes: number }

const listed = async () => {
  const response = await fetch(`${inject('demo').baseUrl}/kit/`)
  return ((await response.json()) as { packages: Listed[] }).packages
}

it('lists every package with its address and the digest of its bytes', async () => {
  const packages = await listed()
  expect(packages.map(({ name }) => name)).toEqual([
    '@sluice/node',
    '@sluice/react',
    '@sluice/uploader',
    '@sluice/uppy',
    '@sluice/cli',
    'sluice-python',
    'sluice-go',
  ])
  for (const { url, integrity, bytes } of packages) {
    const response = await fetch(url)
    const content = new Uint8Array(await response.arrayBuffer())
    expect(`sha512-${createHash('sha512').update(content).digest('base64')}`).toBe(integrity)
    expect(content.length).toBe(bytes)
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  }
})

it('serves no other files', async () => {
  const { baseUrl } = inject('demo')
  for (const file of ['kit.json', '..%2Fpackage.json', 'sluice-react-0.1.0.tgz']) {
    const { status, headers } = await fetch(`${baseUrl}/kit/${file}`)
    expect([status, headers.get('cache-control')]).toEqual([404, 'no-store'])
  }
})
