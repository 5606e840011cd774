import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { asText, readDocument, writeDocument } from './document.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-document-'))
afterAll(() => rmSync(folder, { recursive: true }))

function read(text: string, env: Record<string, string> = {}) {
  const file = join(folder, 'sluice.yaml')
  writeFileSync(file, text)
  return readDocument(file, env).senders
}

const HOME = '{HOME}'

it.each([`$${HOME}`, `$$${HOME}`, `a $$$$${HOME} b$${HOME}`, '${', '$HOME', 'a \u202egpj.exe'])(
  'reads %j back unchanged, regardless of the environment',
  (name) => {
    const senders = asText([{ name }])
    expect(read(writeDocument({ senders }), { HOME: '/root' })).toEqual([{ name, fields: { name } }])
  },
)

it('fills in environment variables that a file refers to', () => {
  expect(read(`version: 1\nsenders: [{ name: 'of $${HOME}' }]`, { HOME: 'test' })).toMatchObject([
    { name: 'of test' },
  ])
})
