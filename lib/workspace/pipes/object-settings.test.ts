import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import type { SluiceError } from '../../platform/kernel/errors.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { objectOf, pipeObjectField, tokenObjectField } from './object-settings.ts'

function faultsOf(given: unknown, field: z.ZodType = pipeObjectField): string[] {
  try {
    parseInput(field, given)
    return []
  } catch (error) {
    return (error as SluiceError).fields!.map(({ field, message }) => `${field}: ${message}`)
  }
}

describe('object settings', () => {
  it('are accepted as given', () => {
    const object = {
      metadata: { 'file-id': '{file_id}', sent: 'on {yyyy}-{mm}-{dd}' },
      cacheControl: 'private, no-cache="set-cookie", max-age=60',
      contentDisposition: 'inline',
      storageClass: 'STANDARD_IA',
      tags: { 'Kosten: stelle': 'Größe {ext}' },
      encryption: { type: 'SSE-KMS', keyId: 'alias/uploads' },
      tokensMaySet: ['tags'],
    }
    expect(pipeObjectField.parse(object)).toEqual(object)
  })

  it.each([
    [{}, 'body: must contain at least one setting, or be null'],
    [{ metadata: {} }, 'metadata: must have an entry, or be left out'],
    [{ metadata: { 'X Y': 'a' } }, 'metadata.X Y: must have a name of lower-case letters, digits'],
    [{ metadata: { a: '{nope}' } }, 'metadata.a: has an unknown field {nope}'],
    [{ metadata: { a: 'a { b' } }, 'metadata.a: has a { or } that is not part of a field'],
    [{ metadata: { a: 'one\r\nx-amz-acl: public-read' } }, 'metadata.a: must not contain control characters'],
    [{ metadata: { a: ' a' } }, 'metadata.a: must not start or end with a space'],
    [{ metadata: { a: 'x'.repeat(2048) } }, 'metadata: must have at most 2048 bytes'],
    [
      { metadata: { a: 'x'.repeat(1024) }, tokensMaySet: ['metadata'] },
      'metadata: must have at most 1024 bytes',
    ],
    [{ cacheControl: 'no-store\r\nx: y' }, 'cacheControl: must look like'],
    [{ cacheControl: 'max-age = 5' }, 'cacheControl: must look like'],
    [{ contentDisposition: 'attachment; filename=x' }, 'contentDisposition: must be inline or attachment'],
    [{ storageClass: 'standard' }, 'storageClass: must look like STANDARD_IA'],
    [{ tags: { 'aws:x': 'a' } }, 'tags.aws:x: must not have a name that starts with aws:'],
    [{ tags: { a: 'a&b' } }, 'tags.a: must only contain letters'],
    [
      { tags: Object.fromEntries([...'abcdefghijk'].map((name) => [name, 'x'])) },
      'tags: must have at most 10',
    ],
    [{ encryption: { type: 'AES256' } }, 'encryption.type:'],
    [{ tokensMaySet: ['acl'] }, 'tokensMaySet.0: must be one of'],
    [{ acl: 'public-read' }, 'acl: is not a known field'],
  ])('rejects %j', (given, fault) => {
    expect(faultsOf(given).join('\n')).toContain(fault)
  })

  it('of a token have half of the space, and cannot include tokensMaySet', () => {
    expect(faultsOf({ metadata: { a: 'x'.repeat(1024) } }, tokenObjectField)).toHaveLength(1)
    expect(faultsOf({ tokensMaySet: ['tags'] }, tokenObjectField)).not.toEqual([])
  })

  const facts = {
    fileId: '0196f0c3-7b1e-7c42-9d55-1f0a6f2f8a10',
    filename: '../a&b.TXT',
    folder: '',
    sender: 'web',
    pipeId: 'pipe_x',
    at: new Date('2026-11-21'),
  }

  it('of a file have their placeholders filled in, encoded for where they are used', () => {
    const object = { metadata: { n: '{filename}' }, tags: { n: '{filename} {dd}' } }
    expect(objectOf(object, null, facts)).toEqual({
      metadata: { n: '._a&b.TXT' },
      tags: { n: '._a_b.TXT 21' },
    })
  })

  it.each([
    ['report.pdf', 'attachment; filename="report.pdf"'],
    ['a"b\\c%.pdf', `attachment; filename="a_b_c_.pdf"; filename*=UTF-8''a%22b_c%25.pdf`],
    ["été'(1)*.pdf", `attachment; filename="_t_'(1)*.pdf"; filename*=UTF-8''%C3%A9t%C3%A9%27%281%29%2A.pdf`],
    ['a\r\nSet-Cookie: x', 'attachment; filename="a__Set-Cookie: x"'],
  ])('name a download %s according to RFC 6266', (filename, header) => {
    const { contentDisposition } = objectOf({ contentDisposition: 'attachment' }, null, {
      ...facts,
      filename,
    })!
    expect(contentDisposition).toBe(header)
  })

  it('of a token apply only if the Pipe lets tokens set them', () => {
    const token = { cacheControl: 'no-store' }
    expect(objectOf(null, token, facts)).toBeNull()
    expect(objectOf({ tokensMaySet: ['tags'] }, token, facts)).toBeNull()
    expect(objectOf({ tokensMaySet: ['cacheControl'] }, token, facts)).toEqual(token)
  })
})
