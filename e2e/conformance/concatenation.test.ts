import { beforeAll, describe, expect, inject, it } from 'vitest'
import { targetOf } from '../../test/support/target.ts'
import { located, metadata, newTus, type Tus } from '../../test/support/tus.ts'

/** A Pipe whose Data Store has keys that can read and delete, so that joined pieces are copied and then deleted. */
let tus: Tus
let putOnly: Tus
beforeAll(async () => {
  const target = targetOf(inject('demo'))
  const { endpoint, region, name: bucket, reader } = target.bucket
  const place = { endpoint, region, bucket, prefix: 'joined/', forcePathStyle: true, ...reader }
  const fields = { name: 'Keys that can read', provider: 'minio', ...place }
  const store = await target.api<{ id: string }>('POST', '/data-stores', fields)
  await target.api('POST', `/data-stores/${store.body.id}/check`)
  const pipe = await target.api<{ id: string }>('POST', '/pipes', {
    name: 'Joins',
    dataStoreId: store.body.id,
    source: { http: true },
  })
  tus = await newTus(target, { pipeId: pipe.body.id })
  putOnly = await newTus(target)
})

async function partial(text: string, fields = {}): Promise<string> {
  const head = { 'Upload-Length': text.length, 'Upload-Concat': 'partial', ...fields }
  return located(await tus.post(head, text))
}

const join = (addresses: string[], fields = {}) =>
  tus.post({ 'Upload-Concat': `final;${addresses.join(' ')}`, ...fields })

describe('concatenation', () => {
  it('is announced only if the keys allow it', async () => {
    expect((await tus.options()).headers['tus-extension']!.split(',')).toContain('concatenation')
    expect((await putOnly.options()).headers['tus-extension']!.split(',')).not.toContain('concatenation')
    const refused = await putOnly.post({ 'Upload-Length': 5, 'Upload-Concat': 'partial' })
    expect(refused.status).toBe(400)
  })

  it("returns a partial upload's offset, length and Upload-Concat", async () => {
    const address = await tus.create(10, { 'Upload-Concat': 'partial' })
    await tus.patch(address, 0, 'hello')
    expect((await tus.head(address)).headers).toMatchObject({
      'upload-offset': '5',
      'upload-length': '10',
      'upload-concat': 'partial',
    })
  })

  it("makes the final upload's length and offset the sum of its parts", async () => {
    const address = located(await join([await partial('hello '), await partial('world')]))
    const { headers } = await tus.head(address)
    expect([headers['upload-length'], headers['upload-offset']]).toEqual(['11', '11'])
  })

  it.each(['absolute', 'relative'])(
    'returns Upload-Concat as sent for a HEAD of a final upload: %s',
    async (form) => {
      const addresses = [await partial('hello '), await partial('world')]
      const sent = form === 'absolute' ? addresses : addresses.map((address) => new URL(address).pathname)
      const { headers } = await tus.head(located(await join(sent)))
      expect(headers['upload-concat']).toBe(`final;${sent.join(' ')}`)
    },
  )

  it("does not copy the partial uploads' metadata to the final one", async () => {
    const own = metadata({ filename: 'whole.txt' })
    const piece = await partial('hello', { 'Upload-Metadata': metadata({ filename: 'piece', secret: 'x' }) })
    const address = located(await join([piece], { 'Upload-Metadata': own }))
    expect((await tus.head(address)).headers['upload-metadata']).toBe(own)
    const bare = located(await join([await partial('x', { 'Upload-Metadata': own })]))
    expect((await tus.head(bare)).headers['upload-metadata']).toBeUndefined()
  })

  it('returns 403 for a PATCH of a final upload and changes nothing', async () => {
    const address = located(await join([await partial('hello')]))
    expect((await tus.patch(address, 5, ' world')).status).toBe(403)
    expect(await tus.offset(address)).toBe(5)
  })

  it('refuses to join an unfinished upload', async () => {
    const unfinished = await tus.create(10, { 'Upload-Concat': 'partial' })
    expect((await join([unfinished])).status).toBe(400)
    expect(await tus.offset(unfinished)).toBe(0)
  })
})
