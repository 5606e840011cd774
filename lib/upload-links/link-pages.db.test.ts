import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { sampleOf } from '../../test/support/sample-files.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import {
  changeLinkPages,
  findLogo,
  linkPagesChanges,
  MAX_LOGO_BYTES,
  readLinkPages,
  removeLogo,
  saveLogo,
} from './link-pages.ts'
import { createUploadLink, hashingPassword } from './manage-links.ts'
import { lookAtLink } from './open-link.ts'
import { uploadLinkInput } from './upload-link.ts'

describeWithDatabase("how a workspace's link pages look", (database) => {
  let site: Site
  beforeAll(async () => {
    site = await createSite(database())
  })
  afterAll(() => site?.close())
  const change = async (fields: object) =>
    changeLinkPages(site.runtime, site.actor, parseInput(linkPagesChanges, fields))
  const save = (bytes: Buffer) => saveLogo(site.runtime, site.actor, { image: bytes.toString('base64') })
  const digestOf = (url: string | null) => url!.split('/').at(-1)!

  it('is shown with each of its links, and changes only in what is given', async () => {
    const plain = { name: null, color: null, text: '', logoUrl: null }
    expect(await readLinkPages(site.runtime, site.workspaceId)).toEqual(plain)
    await change({ name: 'Acme Films', text: 'Ask Ada.' })
    const { logoUrl } = await save(sampleOf('png'))
    await change({ color: '#6D28D9' })
    const input = parseInput(uploadLinkInput, { pipeId: site.pipe.id, title: 'Films' })
    const { code } = await createUploadLink(site.runtime, site.actor, await hashingPassword(input))
    const { pages } = await lookAtLink(site.runtime, code, '192.0.2.1')
    expect(pages).toEqual({ name: 'Acme Films', color: '#6D28D9', text: 'Ask Ada.', logoUrl })
    const logo = await findLogo(site.runtime, digestOf(logoUrl))
    expect([logo!.type, Buffer.from(logo!.bytes)]).toEqual(['image/png', sampleOf('png')])
    await removeLogo(site.runtime, site.actor)
    expect(await findLogo(site.runtime, digestOf(logoUrl))).toBeUndefined()
    expect(await findLogo(site.runtime, 'no\0digest')).toBeUndefined()
  })

  it.each(['svg', 'html', 'gif', 'text', 'empty'] as const)('refuses %s as a logo', async (sample) => {
    await expect(save(sampleOf(sample))).rejects.toMatchObject({
      fields: [{ field: 'image', message: 'must be a PNG, JPEG or WebP image' }],
    })
  })

  it.each(['png', 'jpeg', 'webp'] as const)('accepts %s as a logo, up to 100 KiB', async (sample) => {
    const most = Buffer.concat([sampleOf(sample)], MAX_LOGO_BYTES)
    expect((await save(most)).logoUrl).toContain('/u/logo/')
    await expect(save(Buffer.concat([most], MAX_LOGO_BYTES + 1))).rejects.toMatchObject({
      fields: [{ field: 'image', message: 'must have at most 100 KiB' }],
    })
  })

  it.each(['red', '#fff', '#6d28d9; background: url(//evil.example)', 'javascript:alert(1)'])(
    'refuses %j as a color',
    (color) => {
      expect(() => parseInput(linkPagesChanges, { color })).toThrow('must be a color such as #0b6b7f')
    },
  )
})
