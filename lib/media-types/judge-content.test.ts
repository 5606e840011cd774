import { describe, expect, it } from 'vitest'
import { LIARS, sampleOf, TRUE_FILES } from '../../test/support/sample-files.ts'
import { HEAD_BYTES, judgeContent } from './judge-content.ts'

const judge = (head: Uint8Array, declared: string | null, isWhole = head.length < HEAD_BYTES) =>
  judgeContent(head, { declared, isWhole })

describe('the first bytes', () => {
  it.each(TRUE_FILES)('of %s match', async (declared, sample) => {
    expect(await judge(sampleOf(sample), declared)).toMatchObject({ fits: true })
  })

  it.each(LIARS)('of a file declared as %s that is %s do not match', async (declared, sample, found) => {
    expect(await judge(sampleOf(sample), declared)).toEqual({ fits: false, found })
  })

  it.each([null, '', 'application/octet-stream'])('may be anything if %j is declared', async (declared) => {
    expect(await judge(sampleOf('png'), declared)).toEqual({ fits: true, found: 'image/png' })
    expect(await judge(Buffer.from([0, 255, 3, 1]), declared)).toMatchObject({ fits: true })
  })

  it('of text may end within a character only if more bytes follow', async () => {
    const head = Buffer.from('ä'.repeat(2050)).subarray(1, HEAD_BYTES)
    const cut = Buffer.concat([Buffer.from('a'), Buffer.from('ä'.repeat(2050))]).subarray(0, HEAD_BYTES)
    expect(await judge(cut, 'text/plain', false)).toMatchObject({ fits: true })
    expect(await judge(cut, 'text/plain', true)).toMatchObject({ fits: false })
    expect(await judge(head, 'text/plain', false)).toMatchObject({ fits: false })
  })

  it.each(['BMW is a car', 'MZ is a signature', 'ID3 is, too', 'II*', 'PK, he said'])(
    'of a text file count as text, even if it starts with %s',
    async (text) => {
      expect(await judge(Buffer.from(text), 'text/plain')).toEqual({ fits: true, found: 'text/plain' })
    },
  )
})
