import { expect, it } from 'vitest'
import { csvLine } from './csv.ts'

it('quotes what would end a value, and disarms formulas', () => {
  expect(csvLine(['a', 1, null, 'b,c', 'say "hi"', '=1+1', '@x', 'two\nlines'])).toBe(
    'a,1,,"b,c","say ""hi""","\'=1+1","\'@x","two\nlines"\r\n',
  )
})
