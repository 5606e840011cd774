import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isSluiceError } from '../../platform/kernel/errors.ts'
import { newPipeId, uuidv7 } from '../../platform/kernel/ids.ts'
import {
  countHeader,
  parseUploadPath,
  type UploadRequest,
  uploadAddress,
} from '../endpoint/upload-request.ts'
import { bodyCheck, deferHeader, parseUploadConcat, parseUploadMetadata } from './tus-headers.ts'

/** Each header is either parsed or refused as malformed; no input has any other effect. */
const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 100 }), fc.string({ maxLength: 100 }))
const almost = (...right: string[]) =>
  fc.oneof(
    anyText,
    fc.tuple(fc.constantFrom(...right), anyText).map((both) => both.join('')),
  )

const request = (headers: UploadRequest['headers']) => ({ headers }) as UploadRequest

/** The parsed value, or undefined if the header was refused with an error that names the header. */
function readOrRefused<Value>(read: () => Value, named: string): { value: Value } | undefined {
  try {
    return { value: read() }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    expect(error.code).toBe('invalid_header')
    expect(error.message).toContain(named)
    return undefined
  }
}

it('reads Upload-Metadata exactly as the client wrote it', () => {
  const key = fc
    .string({ minLength: 1, maxLength: 20 })
    .filter((text) => /^[!-+\--~]+$/.test(text) && !['filename', 'filetype'].includes(text) && !(text in {}))
  const value = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => !text.includes('\0'))
  const pairs = fc.uniqueArray(fc.tuple(key, value), { selector: ([name]) => name, maxLength: 8 })
  fc.assert(
    fc.property(pairs, value, fc.constantFrom(',', ', ', ' ,'), (custom, filename, comma) => {
      const all = [['filename', filename] as const, ...custom]
      const header = all
        .map(([name, text]) => `${name} ${Buffer.from(text).toString('base64')}`.trimEnd())
        .join(comma)
      const read = parseUploadMetadata(header)
      expect(read.header).toBe(header)
      expect(read.filename).toBe(filename === '' ? 'file' : filename)
      expect(Object.entries(read.custom).sort()).toEqual([...custom].sort())
    }),
  )
})

it('parses or rejects any Upload-Metadata, without changing a prototype', () => {
  fc.assert(
    fc.property(almost('filename YQ==', 'a YQ==,', '__proto__ YQ=='), (text) => {
      const read = readOrRefused(() => parseUploadMetadata(text), 'Upload-Metadata')
      if (read) expect(Object.getPrototypeOf(read.value.custom)).toBe(Object.prototype)
    }),
    { numRuns: 500 },
  )
})

it.each(['upload-length', 'upload-offset'])('accepts only integers in %s', (name) => {
  const title = name === 'upload-length' ? 'Upload-Length' : 'Upload-Offset'
  fc.assert(
    fc.property(fc.oneof(almost('1', '0x', '-'), fc.bigInt().map(String)), (text) => {
      const read = readOrRefused(() => countHeader(request({ [name]: text }), name), title)
      const value = Math.min(Number(text), Number.MAX_SAFE_INTEGER)
      expect(read).toEqual(/^\d+$/.test(text) ? { value } : undefined)
    }),
    { numRuns: 500 },
  )
})

it('accepts only 1 in Upload-Defer-Length', () => {
  fc.assert(
    fc.property(almost('1', '01'), (text) => {
      const read = readOrRefused(() => deferHeader(request({ 'upload-defer-length': text })), 'must be 1')
      expect(read).toEqual(text === '1' ? { value: true } : undefined)
    }),
  )
})

it('compares Upload-Checksum with the digest of the bytes, however they are split into chunks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 50 })),
      fc.constantFrom('md5', 'sha1', 'sha256'),
      fc.boolean(),
      (pieces, algorithm, wrong) => {
        const hash = createHash(algorithm)
        for (const piece of pieces) hash.update(piece)
        if (wrong) hash.update('x')
        const check = bodyCheck(request({ 'upload-checksum': `${algorithm} ${hash.digest('base64')}` }))!
        for (const piece of pieces) check.update(Buffer.from(piece))
        if (wrong)
          expect(() => check.verify()).toThrow(expect.objectContaining({ code: 'checksum_mismatch' }))
        else check.verify()
      },
    ),
  )
})

it('parses or rejects any Upload-Checksum', () => {
  fc.assert(
    fc.property(almost('sha1 ', 'sha1', 'crc32 AAAA', 'md5  '), (text) => {
      readOrRefused(() => bodyCheck(request({ 'upload-checksum': text })), 'Upload-Checksum')
    }),
    { numRuns: 500 },
  )
})

it('accepts distinct uploads on the same Pipe in Upload-Concat, and parses or rejects any other value', () => {
  const pipeId = newPipeId()
  const id = fc.nat().map((n) => uuidv7(n))
  const address = id.map((one) => uploadAddress('https://uploads.example', pipeId, one))
  fc.assert(
    fc.property(fc.uniqueArray(address, { minLength: 1 }), fc.constantFrom(' ', '  '), (addresses, space) => {
      const header = `final;${addresses.join(space)}`
      const partialIds = addresses.map((one) => one.split('/').at(-1))
      expect(parseUploadConcat(header, pipeId)).toEqual({ kind: 'final', partialIds, header })
      expect(() => parseUploadConcat(`final;${addresses.join(space)}`, newPipeId())).toThrow('Upload-Concat')
    }),
  )
  fc.assert(
    fc.property(almost('final;', 'final; /pipes/', 'partial'), (text) => {
      readOrRefused(() => parseUploadConcat(text, pipeId), 'Upload-Concat')
    }),
    { numRuns: 500 },
  )
})

it("parses an upload's address, and finds no upload in any other path", () => {
  fc.assert(
    fc.property(fc.nat(), fc.constantFrom('', '/', '?a=/b'), (ms, end) => {
      const [pipeId, fileId] = [newPipeId(), uuidv7(ms)]
      const { pathname } = new URL(uploadAddress('https://uploads.example', pipeId, fileId))
      expect(parseUploadPath(pathname + end)).toEqual({ pipeId, fileId, name: fileId, ofResult: false })
    }),
  )
  fc.assert(
    fc.property(almost('/pipes/', `/pipes/${newPipeId()}/files/`, '/pipes/../'), (path) => {
      const read = parseUploadPath(path)
      expect([read?.pipeId, read?.fileId].join()).toMatch(/^(pipe_[a-z2-7]{20})?,([0-9a-f-]{36})?$/)
    }),
    { numRuns: 500 },
  )
})
