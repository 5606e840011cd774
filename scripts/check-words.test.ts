import { describe, expect, it } from 'vitest'
import { sampleOf, textsOf, unidiomatic } from './check-words.ts'
import { PHRASES } from './phrases.ts'

describe('the word check', () => {
  it.each(PHRASES)('finds "$planted" in docs, comments and messages', ({ planted, instead }) => {
    const found = expect.stringContaining(`write "${instead}"`)
    expect(unidiomatic(`# Page\n\n${planted}\n`)).toContainEqual(found)
    expect(unidiomatic(`/** ${planted.replaceAll(' ', '\n * ')} */\n`)).toContainEqual(found)
    expect(unidiomatic(`throw new Error('${planted}')\n`)).toContainEqual(found)
  })

  it('names the line, and passes idiomatic text', () => {
    expect(unidiomatic('One.\n\nBegin the upload\nanew.\n')).toEqual([
      '4: "anew" is not idiomatic: write "again, or start over"',
    ])
    expect(unidiomatic('Start a new upload with the command-line tool.\n')).toEqual([])
  })

  it('samples the same texts for the same seed, and different ones for another', () => {
    const texts = Array.from({ length: 50 }, (_, at) => `text ${at}`)
    expect(sampleOf(texts, 5, 'a')).toEqual(sampleOf(texts.toReversed(), 5, 'a'))
    expect(sampleOf(texts, 5, 'a')).not.toEqual(sampleOf(texts, 5, 'b'))
  })

  it('samples comments, messages, page texts, and paragraphs without code', () => {
    expect(
      textsOf('a.md', 'A first paragraph here.\n\n```sh\nnpm run not this one\n```\n\n- An item of a list\n'),
    ).toEqual(['A first paragraph here.', '- An item of a list'])
    const source =
      "/** Why this is so. */\n// And why not otherwise.\nfail('No such upload here.')\n<p>Choose a file to upload.</p>\n"
    expect(textsOf('a.tsx', source)).toEqual([
      'Why this is so.',
      'And why not otherwise.',
      'No such upload here.',
      'Choose a file to upload.',
    ])
  })
})
