import { expect, it } from 'vitest'
import { csvLine } from './csv.ts'

it.each(['\n=1+1', '\r=1+1', '\t=1+1', '＝1+1', '＋1', '－1', '＠SUM(A1)'])(
  'neutralizes the formula %j',
  (name) => {
    expect(csvLine([name])).toBe(`"'${name}"\r\n`)
  },
)

it('quotes characters that would end a value, and neutralizes formulas', () => {
  expect(csvLine(['a', 1, null, 'b,c', 'say "hi"', '=1+1', '@x', 'two\nlines'])).toBe(
    'a,1,,"b,c","say ""hi""","\'=1+1","\'@x","two\nlines"\r\n',
  )
})
