import { expect, it } from 'vitest'
import { parsePastedUrls } from './import.ts'

it('reads one URL per line, which may contain spaces', () => {
  const pasted = '  https://example.com/a film.mp4 \r\n\n https://example.com/two.mp4\n'
  expect(parsePastedUrls(pasted).map(({ url }) => url)).toEqual([
    'https://example.com/a%20film.mp4',
    'https://example.com/two.mp4',
  ])
})
