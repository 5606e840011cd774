import { expect, it } from 'vitest'
import { credentialsCsv, namesOf } from './device-forms.ts'

it.each([
  ['Camera 1\nCamera 2\n', ['Camera 1', 'Camera 2']],
  ['name,place\r\nCamera 1,Hall 3\r\n', ['Camera 1']],
  ['"Gate, north";x\n"the ""old"" one"', ['Gate, north', 'the "old" one']],
  ['\n\n', []],
])('reads the names in %j', (csv, names) => {
  expect(namesOf(csv)).toEqual(names)
})

it('writes credentials that a spreadsheet does not take for formulas', () => {
  expect(credentialsCsv([{ name: '=1+1', id: 'id', token: 'sk_1' }])).not.toMatch(/^=1/m)
})
