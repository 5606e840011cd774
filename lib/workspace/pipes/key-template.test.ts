import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  DEFAULT_KEY_TEMPLATE,
  type KeyParts,
  keyPrefixField,
  keyTemplateFault,
  renderObjectKey,
} from './key-template.ts'
import { cleanFilename, folderOf } from './placeholders.ts'

const parts: KeyParts = {
  prefix: '',
  keyPrefix: '',
  fileId: '019a0000-0000-7000-8000-000000000001',
  filename: 'Ünïcode photo.JPG',
  folder: '',
  sender: 'My backend',
  pipeId: 'pipe_aaaaaaaaaaaaaaaaaaaa',
  at: new Date('2026-03-04T23:59:59.999Z'),
}

const LONGEST = {
  prefix: `${'p'.repeat(207)}/${'p'.repeat(48)}`,
  keyPrefix: `${'k'.repeat(207)}/${'k'.repeat(48)}`,
}

describe('keyPrefixField', () => {
  const faultOf = (text: string) => keyPrefixField.safeParse(text).error?.issues[0]?.message
  it.each(['', 'in/', 'in/user-', 'é/', LONGEST.prefix])('accepts %j', (text) =>
    expect(faultOf(text)).toBeUndefined(),
  )

  it.each([
    [`${'é'.repeat(60)}/${'x'.repeat(100)}/${'x'.repeat(36)}`, 'at most 256 bytes'],
    ['é'.repeat(25), 'at most 48 bytes after its last /'],
    [`${'é'.repeat(104)}/`, 'more than 207 bytes between'],
    ['/in', 'must not start with /'],
    ['in/../', 'must not contain ..'],
    ['in\\', 'control characters'],
  ])('rejects %j', (text, words) => expect(faultOf(text)).toContain(words))
})

describe('keyTemplateFault', () => {
  it.each([
    DEFAULT_KEY_TEMPLATE,
    '{yyyy}/{mm}/{dd}/{file_id}.{ext}',
    '{sender}/{pipe_id}/{file_id}',
    'a.b/{file_id}',
  ])('accepts %s', (template) => expect(keyTemplateFault(template)).toBeUndefined())

  it.each([
    ['{filename}', 'must contain {file_id}'],
    ['{file_id}/{fname}', 'unknown field {fname}'],
    ['{file_id}/{', 'has a { or }'],
    ['/{file_id}', 'must not start with /'],
    ['{file_id}/', 'must not end with /'],
    ['a//{file_id}', 'must not contain //'],
    ['../{file_id}', 'must not contain ..'],
    ['a/./{file_id}', 'must not contain ..'],
    ['a\\{file_id}', 'control characters'],
    ['a\n{file_id}', 'control characters'],
    [`${'x'.repeat(500)}{file_id}`, 'is too long'],
    [`a/${'ü'.repeat(110)}{file_id}`, 'more than 255 bytes between'],
    [`${'ü'.repeat(62)}{file_id}`, 'more than 159 bytes before its first /'],
    ['', 'must contain {file_id}'],
    ['{file_id}/}', 'has a { or }'],
  ])('rejects %j', (template, words) => expect(keyTemplateFault(template)).toContain(words))
})

describe('renderObjectKey', () => {
  it('joins the prefixes and the template with its fields', () => {
    const given = { ...parts, prefix: 'in/', keyPrefix: 'user-7/' }
    expect(renderObjectKey('{yyyy}-{mm}-{dd}/{sender}/{pipe_id}/{file_id}/{filename}.{ext}', given)).toBe(
      `in/user-7/2026-03-04/My backend/${parts.pipeId}/${parts.fileId}/Ünïcode photo.JPG.jpg`,
    )
  })

  it.each([
    ['{file_id}-{filename}', ''],
    ['{filename}.{file_id}.{filename}/{filename}', 'in'],
    [`${'ü'.repeat(20)}{file_id}-{filename}`, ''],
    ['{yyyy}/{filename}{filename}{filename}/{file_id}', 'in/'],
  ])('keeps each segment of %s short enough for a file name', (template, prefix) => {
    const key = renderObjectKey(template, { ...parts, prefix, filename: `${'ü'.repeat(200)}.mp4` })!
    const longest = Math.max(...key.split('/').map((segment) => Buffer.byteLength(segment)))
    expect(longest).toBeLessThanOrEqual(255)
    expect(longest).toBeGreaterThan(240)
    expect(key).toContain('ü.mp4')
  })

  it('shortens the filename first, and keeps its extension', () => {
    const given = { ...parts, ...LONGEST, filename: `${'n'.repeat(400)}.tar` }
    const key = renderObjectKey('{file_id}/{filename}/{filename}/{filename}', given)!
    expect(Buffer.byteLength(key)).toBeLessThanOrEqual(1024)
    expect(key).toMatch(/n\.tar$/)
  })

  it('has room for the longest prefixes and the longest template', () => {
    for (const template of [
      `${'t'.repeat(123)}{file_id}`,
      `${'t'.repeat(123)}{file_id}/${'u'.repeat(231)}{filename}`,
    ]) {
      expect(keyTemplateFault(template)).toBeUndefined()
      for (const keyPrefix of [LONGEST.keyPrefix, 'k'.repeat(48), `${'k'.repeat(207)}/`]) {
        const key = renderObjectKey(template, { ...parts, ...LONGEST, keyPrefix })!
        expect(Buffer.byteLength(key)).toBeLessThanOrEqual(1024)
        expect(Math.max(...key.split('/').map((segment) => Buffer.byteLength(segment)))).toBeLessThanOrEqual(
          255,
        )
      }
    }
  })

  it('builds a safe key of at most 1,024 bytes from any client input', () => {
    const templates = [
      DEFAULT_KEY_TEMPLATE,
      '{sender}/{file_id}.{ext}',
      '{filename}{filename}{filename}/{file_id}',
    ]
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 2000 }),
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.constantFrom(...templates),
        (filename, sender, template) => {
          const key = renderObjectKey(template, { ...parts, filename, sender, prefix: 'é'.repeat(128) })!
          expect(Buffer.byteLength(key)).toBeLessThanOrEqual(1024)
          expect(key).toContain(parts.fileId)
          expect(key.split('/')).toHaveLength(template.split('/').length)
          expect(key.split('/').every((segment) => segment !== '' && !segment.includes('..'))).toBe(true)
          expect(key.isWellFormed() && !/\p{Cc}/u.test(key)).toBe(true)
        },
      ),
    )
  })
})

it('never shortens a name to a single dot', () => {
  const template = `{file_id}/${'a'.repeat(440)}/{filename}`
  const filename = `.${' '.repeat(200)}x`
  expect(renderObjectKey(template, { ...parts, ...LONGEST, filename })).toMatch(/\/file$/)
})

it('never puts two dots side by side', () => {
  const key = renderObjectKey('{file_id}/{filename}{filename}', { ...parts, filename: '.a.' })!
  expect(key).toBe(`${parts.fileId}/.a.a_`)
})

it('never ends a folder or the filename with a dot, which Azure would drop', () => {
  const key = renderObjectKey('{path}/{file_id}/{filename}', { ...parts, folder: 'etc./a', filename: 'b.' })
  expect(key).toBe(`etc_/a/${parts.fileId}/b_`)
})

it.each([
  ['a/.', './x/', 'a/_/x/'],
  ['a/.', '/x/', 'a/_/x/'],
  ['./', '', '_/'],
  ['', 'a/.', 'a/.'],
  ['a.', '.b/', 'a.b/'],
])('never builds a parent path from the prefixes %j and %j', (prefix, keyPrefix, start) => {
  const key = renderObjectKey('{file_id}/{filename}', { ...parts, prefix, keyPrefix })!
  expect(key).toBe(`${start}${parts.fileId}/${key.split('/').at(-1)}`)
})

describe('cleanFilename', () => {
  it.each([
    ['photo.jpg', 'photo.jpg'],
    ['写真 📷.jpg', '写真 📷.jpg'],
    ['../../etc/passwd', '._._etc_passwd'],
    ['C:\\temp\\a.txt', 'C:_temp_a.txt'],
    ['a\u0000b\r\n.txt', 'a_b__.txt'],
    ['..', 'file'],
    ['  ', 'file'],
    ['', 'file'],
    ['\ud800x', '_x'],
    ['exe.\u202etxt', 'exe._txt'],
    [`.${' '.repeat(300)}x`, 'file'],
    [`.${' '.repeat(300)}.jpeg`, '.jpeg'],
    [`${'é'.repeat(300)}.jpeg`, `${'é'.repeat(125)}.jpeg`],
  ])('turns %j into %j', (sent, cleaned) => expect(cleanFilename(sent)).toBe(cleaned))
})

describe("a file's folder", () => {
  it.each([
    ['holiday/2026/a.jpg', 'holiday/2026'],
    ['a.jpg', ''],
    [null, ''],
    ['null', ''],
    ['/etc/passwd', 'etc'],
    ['../../../etc/./passwd', 'etc'],
    ['C:\\Users\\me\\a.jpg', 'C:/Users/me'],
    ['a//b/ c /d', 'a/b/c'],
    ['a\u0000b/c\nd/x', 'a_b/c_d'],
    ['one...two/..../x', 'one.two'],
    ['CON/nul/x', 'CON/nul'],
    ['.sluice-checks/x', '_sluice-checks'],
    [`${'é'.repeat(200)}/x`, 'é'.repeat(127)],
    ['ab\ud800/x', 'ab_'],
  ])('for the path %j is %j', (path, folder) => {
    expect(folderOf(path)).toBe(folder)
  })

  it.each([
    ['{path}/{file_id}', undefined],
    ['in/{path}/{file_id}-{filename}', undefined],
    ['{file_id}/{path}/{filename}', undefined],
    ['{file_id}/{path}', 'must have a / after {path}'],
    ['a{path}/{file_id}', 'must have a / after {path}'],
    ['{path}{file_id}', 'must have a / after {path}'],
    ['{path}/{path}/{file_id}', undefined],
  ])('is checked for its position in %s', (template, fault) => {
    if (fault) expect(keyTemplateFault(template)).toContain(fault)
    else expect(keyTemplateFault(template)).toBeUndefined()
  })

  it('is omitted together with its / if the file has none', () => {
    expect(renderObjectKey('{path}/{file_id}', parts)).toBe(parts.fileId)
    expect(renderObjectKey('in/{path}/{file_id}', { ...parts, folder: 'a/b' })).toBe(`in/a/b/${parts.fileId}`)
  })

  it('never leads outside the prefix, whatever a client sends', () => {
    const hostile = fc.constantFrom(
      '..',
      '.',
      '',
      ' ',
      '/',
      '\\',
      '...',
      '\0',
      '\u202e',
      '.sluice-checks',
      'x'.repeat(300),
    )
    const segment = fc.oneof(hostile, fc.string({ unit: 'binary', maxLength: 20 }))
    const path = fc.array(segment, { maxLength: 1000 }).map((all) => all.join('/'))
    const templates = fc.constantFrom(
      '{path}/{file_id}',
      'in/{path}/{file_id}/{filename}',
      '{file_id}/{path}/x',
    )
    fc.assert(
      fc.property(path, templates, (relativePath, template) => {
        const key = renderObjectKey(template, { ...parts, folder: folderOf(relativePath), prefix: 'tenant/' })
        // Refused because the folder is too long.
        if (key === undefined) return
        expect(key.startsWith('tenant/')).toBe(true)
        expect(Buffer.byteLength(key)).toBeLessThanOrEqual(1024)
        const segments = key.split('/')
        expect(segments.filter((one) => one === '' || /^\.+$/.test(one))).toEqual([])
        expect(key).not.toMatch(/[\\\p{Cc}\p{Cs}]|\.\./u)
        expect(segments[1]).not.toBe('.sluice-checks')
        expect(new URL(`https://bucket.example/${encodeURI(key)}`).pathname.startsWith('/tenant/')).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})
